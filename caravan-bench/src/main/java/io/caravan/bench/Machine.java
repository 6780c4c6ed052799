package io.caravan.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/** Describes the machine that a measurement ran on, because results mean little without this information. */
public final class Machine {
    private static final Path CPU_INFO = Path.of("/proc/cpuinfo");
    private static final String CPU_MODEL = "model name";
    private static final long GIB = 1L << 30;

    private Machine() {}

    /** Returns facts about the machine in display order. The directory determines which disk is described. */
    public static Map<String, String> facts(Path directory) throws IOException {
        FileStore disk = Files.getFileStore(directory);
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        facts.put("JDK", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        facts.put(
                "JVM flags",
                String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments()));
        facts.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("processor", processor());
        facts.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.put("JVM memory", Runtime.getRuntime().maxMemory() / GIB + " GiB at most");
        facts.put("disk", disk.name() + ", " + disk.type() + ", " + disk.getUsableSpace() / GIB + " GiB free");
        return facts;
    }

    private static String processor() throws IOException {
        if (!Files.isReadable(CPU_INFO)) {
            return System.getProperty("os.arch");
        }
        try (Stream<String> lines = Files.lines(CPU_INFO)) {
            return lines.filter(line -> line.startsWith(CPU_MODEL))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        }
    }
}
