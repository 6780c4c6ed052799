package io.caravan.server.cli.support;

import io.caravan.server.cli.doctor.DiskChecks;
import io.caravan.server.cli.doctor.Finding;
import io.caravan.server.cli.doctor.JvmOptions;
import io.caravan.server.cli.doctor.MachineChecks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reports the state of the machine, from the JVM, and from {@code proc} and {@code sys} in this directory. */
record MachineReport(Path root) {
    private static final String MAIN_CLASS = "io.caravan.server.cli.Main";

    private static final List<String> FILES = List.of(("proc/cpuinfo proc/loadavg proc/meminfo proc/pressure/cpu"
                    + " proc/pressure/io proc/pressure/memory proc/sys/vm/dirty_background_ratio"
                    + " proc/sys/vm/dirty_expire_centisecs proc/sys/vm/dirty_ratio proc/sys/vm/max_map_count"
                    + " proc/sys/vm/overcommit_memory proc/sys/vm/swappiness sys/fs/cgroup/cpu.max"
                    + " sys/fs/cgroup/memory.current sys/fs/cgroup/memory.high sys/fs/cgroup/memory.max")
            .split(" "));

    /** The lines of these files, and of the limits and the status of a process, that may be disclosed. */
    private static final Predicate<String> LINE = AllowList.matching("(max|[0-9.]{1,24})([ /](max|[0-9.]{1,24})){0,6}"
            + "|[A-Z][A-Za-z_()]{2,24}: +[0-9]{1,20}( kB)?"
            + "|(model name|cpu MHz|cache size|cpu cores)\\s*: [A-Za-z0-9 ()@.,/_+-]{1,80}"
            + "|(some|full) avg10=[0-9.]+ avg60=[0-9.]+ avg300=[0-9.]+ total=[0-9]+"
            + "|Max [a-z ]{4,24} +(unlimited|[0-9]{1,20}) +(unlimited|[0-9]{1,20}) *[a-z]{0,12} *"
            + "|(Vm[A-Za-z]{2,4}|Rss[A-Za-z]{3,5}|Threads|FDSize|(non)?voluntary_ctxt_switches):\\s+[0-9]{1,20}( kB)?");

    /** Adds the state of the machine, and the findings of {@code caravan doctor} that need no write. */
    void report(SupportFile file, @Nullable Path directory, long connections) {
        file.text("machine/linux.txt", "lines of /proc and /sys", lines(root, "/", FILES));
        List<Finding> findings = new ArrayList<>(new MachineChecks(root).run(connections));
        if (directory != null) {
            findings.addAll(new DiskChecks(root, directory).run(false));
            findings.addAll(DiskChecks.access(directory, List.of()));
        }
        file.json(
                "machine/doctor.json",
                "findings of caravan doctor, as the user who ran this; fsyncs are not measured, because that writes",
                findings);
    }

    /** Adds the server's process. Checks its command line: the server may run on another machine. */
    void process(SupportFile file, long id) {
        file.text(
                "machine/process.txt",
                "the server's process, if it runs on this machine: JVM options, limits, memory",
                process(root.resolve("proc").resolve(String.valueOf(id))));
    }

    private static String process(Path directory) {
        try {
            List<String> words = List.of(
                    MachineChecks.systemFile(directory.resolve("cmdline")).split("\0"));
            if (words.contains(MAIN_CLASS)) {
                return "options of its JVM: " + String.join(" ", JvmOptions.of(words)) + "\n"
                        + lines(directory, "", List.of("limits", "status"));
            }
        } catch (IOException notThere) {
            // The server is probably on another machine.
        }
        return "this machine has no process of the server that this user may read\n";
    }

    private static String lines(Path directory, String prefix, List<String> files) {
        StringBuilder text = new StringBuilder();
        for (String name : files) {
            text.append(prefix).append(name);
            try {
                String content = MachineChecks.systemFile(directory.resolve(name));
                text.append('\n');
                content.lines()
                        .distinct()
                        .filter(LINE)
                        .forEach(line -> text.append("    ").append(line).append('\n'));
            } catch (IOException notThere) {
                text.append(" does not exist\n");
            }
        }
        return text.toString();
    }
}
