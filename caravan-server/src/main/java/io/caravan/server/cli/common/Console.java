package io.caravan.server.cli.common;

import java.io.BufferedInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;

/**
 * The input, output, and environment of a command. Messages for the user go to picocli's error stream instead.
 *
 * @param in the values to append
 * @param out the unbuffered stream for results; must throw if a write fails
 * @param environment the environment variables
 * @param showsProgress whether the error stream is a terminal, on which progress is shown
 */
public record Console(InputStream in, OutputStream out, Map<String, String> environment, boolean showsProgress) {

    /**
     * Returns the console of this process. Java cannot detect whether stderr is a terminal, so the start script sets a
     * property.
     */
    public static Console system() {
        return new Console(
                // Buffered, because readNBytes of a file stream seeks, which a pipe does not support.
                new BufferedInputStream(new FileInputStream(FileDescriptor.in)),
                new FileOutputStream(FileDescriptor.out),
                System.getenv(),
                Boolean.getBoolean("caravan.progress"));
    }
}
