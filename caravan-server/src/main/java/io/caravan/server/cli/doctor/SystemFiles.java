package io.caravan.server.cli.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads files under {@code /proc} and {@code /sys}, which the kernel generates on each read. */
public final class SystemFiles {
    private static final int MOST_BYTES = 1 << 20;

    private SystemFiles() {}

    /**
     * Reads the first {@value #MOST_BYTES} bytes of a file, in large reads. The kernel reports a length of 0 for these
     * files, so {@link Files#readString} would read one byte first, after which files in {@code /proc/sys} return
     * nothing more.
     */
    public static String read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MOST_BYTES), UTF_8);
        }
    }
}
