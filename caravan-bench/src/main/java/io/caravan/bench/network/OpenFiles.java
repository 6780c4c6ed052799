package io.caravan.bench.network;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Linux limit of open files, including connections, for this process and its children. */
final class OpenFiles {
    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final Pattern LIMIT = Pattern.compile("^Max open files +(\\d+|unlimited)", Pattern.MULTILINE);

    private OpenFiles() {}

    static long limit() throws IOException {
        Matcher limit = LIMIT.matcher(Files.readString(LIMITS));
        if (!limit.find()) {
            throw new IOException(LIMITS + " does not contain the limit of open files");
        }
        return limit.group(1).equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(limit.group(1));
    }
}
