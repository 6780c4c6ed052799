package io.caravan.server.cli.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files that the kernel makes up when they are read, below {@code /proc} and {@code /sys}. */
public final class SystemFiles {
    private static final int MOST_BYTES = 1 << 20;

    private SystemFiles() {}

    /**
     * The first {@value #MOST_BYTES} bytes of a file. It is asked for in large pieces: such files have the length 0, so
     * {@link Files#readString} asks for one byte first, and a file of {@code /proc/sys} gives no more after that.
     */
    public static String read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(MOST_BYTES), UTF_8);
        }
    }
}
