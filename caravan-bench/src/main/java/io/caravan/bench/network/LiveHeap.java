package io.caravan.bench.network;

import io.caravan.bench.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The live heap of another JVM, as reported by the JDK's {@code jcmd}. */
final class LiveHeap {
    private static final Pattern TOTAL = Pattern.compile("^Total +\\d+ +(\\d+)", Pattern.MULTILINE);

    private LiveHeap() {}

    /**
     * Makes the JVM collect its garbage, and returns the size of the live objects.
     *
     * @param log a file to write to
     */
    static long bytes(long pid, Path log) throws IOException {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        List<String> command = List.of(jcmd, Long.toString(pid), "GC.class_histogram");
        try (ChildProcess teller = new ChildProcess(command, log)) {
            int status = teller.awaitExit();
            Matcher total = TOTAL.matcher(teller.output());
            if (status != 0 || !total.find()) {
                throw new IOException(String.join(" ", command) + " ended with status " + status
                        + " and did not report the live heap: " + teller.output());
            }
            return Long.parseLong(total.group(1));
        }
    }
}
