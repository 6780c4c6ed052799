package io.caravan.bench;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Looks for programs on the PATH. */
public final class Executables {
    private Executables() {}

    /** Returns a message if the program is not on the PATH, or null if it is. */
    public static @Nullable String missing(String program) {
        String path = System.getenv().getOrDefault("PATH", "");
        boolean found = Arrays.stream(path.split(File.pathSeparator))
                .map(directory -> Path.of(directory, program))
                .anyMatch(Files::isExecutable);
        return found ? null : "no " + program + " on the PATH";
    }
}
