package io.caravan.bench.network;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Memory in use by a process, as reported by Linux, in bytes.
 *
 * @param resident everything in memory, including pages of mapped files, which the system may reclaim
 * @param residentPeak the maximum of it so far
 * @param anonymous the part that is not backed by files
 */
record ServerMemory(long resident, long residentPeak, long anonymous) {
    private static final long KIB = 1024;

    static ServerMemory of(long pid) throws IOException {
        Path status = Path.of("/proc", Long.toString(pid), "status");
        Map<String, String> fields;
        try (Stream<String> lines = Files.lines(status)) {
            fields = lines.map(line -> line.split(":", 2))
                    .filter(parts -> parts.length == 2)
                    .collect(Collectors.toMap(parts -> parts[0], parts -> parts[1].strip(), (first, second) -> first));
        }
        return new ServerMemory(
                bytes(status, fields, "VmRSS"), bytes(status, fields, "VmHWM"), bytes(status, fields, "RssAnon"));
    }

    private static long bytes(Path status, Map<String, String> fields, String name) throws IOException {
        String value = fields.get(name);
        if (value == null || !value.endsWith(" kB")) {
            throw new IOException(status + " does not give " + name + " in kB, but " + value);
        }
        return Long.parseLong(value.substring(0, value.length() - " kB".length())) * KIB;
    }
}
