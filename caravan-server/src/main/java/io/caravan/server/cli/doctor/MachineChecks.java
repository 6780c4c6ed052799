package io.caravan.server.cli.doctor;

import static io.caravan.server.cli.common.Figures.size;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.doctor.Finding.Grade;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks the machine's limits, memory, and JVM, by {@code proc} and {@code sys} in this directory. */
public record MachineChecks(Path root) {
    /** The number of open files that are reserved for the store, the archive, and the JVM. */
    private static final int FILES_OF_ITS_OWN = 1024;

    /** The JVM keeps about 150 files open, and each rejected connection briefly uses one. */
    private static final int LEAST_FILES_OF_ITS_OWN = 384;
    /** The lowest acceptable limit on open files. A lower limit leaves too few files for clients. */
    public static final int LEAST_FILES = 512;

    private static final Pattern OPEN_FILES = Pattern.compile("(?m)^Max open files +(\\S+)");
    private static final long LEAST_MAPS = 65_530;
    private static final long KIBIBYTE = 1024;
    private static final String LIMITS = "proc/self/limits";

    private static final int MOST_BYTES = 1 << 20;

    /** Returns all findings; {@code connections} is the maximum number of concurrent connections. */
    public List<Finding> run(long connections) {
        return List.of(
                read("open files", LIMITS, text -> openFiles(text, connections)),
                read("memory maps", "proc/sys/vm/max_map_count", MachineChecks::maps),
                read("memory", "proc/meminfo", MachineChecks::memory),
                read("huge pages", "sys/kernel/mm/transparent_hugepage/enabled", MachineChecks::hugePages),
                clock(),
                java());
    }

    private Finding read(String subject, String file, Function<String, Finding> judge) {
        try {
            return judge.apply(systemFile(root.resolve(file)));
        } catch (IOException notThere) {
            return Finding.unknown(subject, "this system does not report it in /" + file);
        }
    }

    /** Returns the limit on open files; {@link Long#MAX_VALUE} if there is none, or it is not reported. */
    public long openFiles() {
        try {
            Matcher line = OPEN_FILES.matcher(systemFile(root.resolve(LIMITS)));
            return line.find() && !line.group(1).equals("unlimited") ? Long.parseLong(line.group(1)) : Long.MAX_VALUE;
        } catch (IOException notThere) {
            return Long.MAX_VALUE;
        }
    }

    /** Returns the maximum number of connections for a limit of at least {@link #LEAST_FILES} open files. */
    public static long connectionsWithin(long openFiles) {
        return openFiles - Math.max(LEAST_FILES_OF_ITS_OWN, Math.min(FILES_OF_ITS_OWN, openFiles / 2));
    }

    public static long filesFor(long connections) {
        return connections + FILES_OF_ITS_OWN;
    }

    private static Finding openFiles(String limits, long connections) {
        Matcher line = OPEN_FILES.matcher(limits);
        if (!line.find()) {
            return Finding.unknown("open files", "there is no such line in /proc/self/limits");
        }
        long needed = filesFor(connections);
        boolean enough = line.group(1).equals("unlimited") || Long.parseLong(line.group(1)) >= needed;
        String found = line.group(1) + " may be open, " + needed + " are needed for --max-connections " + connections;
        return enough
                ? Finding.ok("open files", found)
                : Finding.warning(
                        "open files",
                        found + "; serve lowers --max-connections, and rejects clients beyond that",
                        "LimitNOFILE=" + needed + " in the systemd unit, or ulimit -n " + needed
                                + ", or a lower --max-connections");
    }

    /** Checks for the file of systemd-timesyncd; other services that set the clock leave none. */
    private Finding clock() {
        return Files.exists(root.resolve("run/systemd/timesync/synchronized"))
                ? Finding.ok("clock", "systemd-timesyncd has set it since the machine started")
                : new Finding(
                        Grade.UNKNOWN,
                        "clock",
                        "no file reports whether it is correct; documents expire by it, and S3 rejects requests if it"
                                + " is wrong",
                        "check that timedatectl prints 'System clock synchronized: yes'; if not, timedatectl set-ntp"
                                + " true");
    }

    private static Finding maps(String text) {
        long maps = Long.parseLong(text.strip());
        String found = "a process may have " + maps;
        return maps >= LEAST_MAPS
                ? Finding.ok("memory maps", found)
                : Finding.warning(
                        "memory maps",
                        found + "; each file of the heap is one, and a large store will not open",
                        "sysctl -w vm.max_map_count=" + LEAST_MAPS);
    }

    private static Finding memory(String text) {
        Matcher line = Pattern.compile("(?m)^MemTotal: +([0-9]+) kB").matcher(text);
        if (!line.find()) {
            return Finding.unknown("memory", "there is no MemTotal in /proc/meminfo");
        }
        long total = Long.parseLong(line.group(1)) * KIBIBYTE;
        long java = Runtime.getRuntime().maxMemory();
        String found = "Java may take " + size(java) + " of " + size(total);
        return java <= total / 2
                ? Finding.ok("memory", found + "; the rest caches the store's files")
                : Finding.warning(
                        "memory",
                        found + "; too little is left to cache the store's files",
                        "CARAVAN_JAVA_OPTS=-Xmx" + Math.max(1, total / 4 / KIBIBYTE / KIBIBYTE) + "m");
    }

    private static Finding hugePages(String text) {
        return text.contains("[always]")
                ? Finding.warning(
                        "huge pages",
                        "always; the process may take more memory than it uses, and stop while pages are made",
                        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
                : Finding.ok("huge pages", text.strip());
    }

    /** Reports the JVM with its options, the operating system, and the processors. */
    private static Finding java() {
        String options = String.join(
                " ", JvmOptions.shown(ManagementFactory.getRuntimeMXBean().getInputArguments()));
        return Finding.ok(
                "Java",
                Runtime.version() + (options.isEmpty() ? "" : " with " + options) + ", on "
                        + System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch") + " with "
                        + Runtime.getRuntime().availableProcessors() + " processors");
    }

    /**
     * Reads the first {@value #MOST_BYTES} bytes of a kernel file in large reads. The kernel reports a length of 0, so
     * {@link Files#readString} would read one byte first, after which files in {@code /proc/sys} return nothing more.
     */
    public static String systemFile(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MOST_BYTES), UTF_8);
        }
    }
}
