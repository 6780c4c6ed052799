package io.caravan.server.cli.common;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Map;

/**
 * What a command has around it. Messages for people go to picocli's error stream, not here.
 *
 * @param in the values to append
 * @param out results, unbuffered; it must throw when they cannot be written
 * @param environment the environment variables
 * @param showsProgress whether a person looks at the error stream and would see lines come and go in it
 */
public record Console(InputStream in, OutputStream out, Map<String, String> environment, boolean showsProgress) {

    /** The process's own. A Java program cannot tell whether its error stream is a terminal; the start script can. */
    public static Console system() {
        return new Console(
                new FileInputStream(FileDescriptor.in),
                new FileOutputStream(FileDescriptor.out),
                System.getenv(),
                Boolean.getBoolean("caravan.progress"));
    }
}
