package io.caravan.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Creates, copies, and deletes entire directories, such as those that contain stores. */
public final class WorkDirectories {
    private WorkDirectories() {}

    /**
     * Creates the directory if it is missing; its parent must exist. Unlike {@link Files#createDirectories}, this does
     * not recreate a working directory that was deleted after a signal.
     */
    public static Path create(Path directory) throws IOException {
        return Files.isDirectory(directory) ? directory : Files.createDirectory(directory);
    }

    /** Deletes the directory and everything in it. Does nothing if the directory is missing. */
    public static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        for (Path path : walk(directory, Comparator.reverseOrder())) {
            Files.deleteIfExists(path);
        }
    }

    /** Replaces {@code target} with a copy of {@code source}. */
    public static void copy(Path source, Path target) throws IOException {
        delete(target);
        for (Path path : walk(source, Comparator.naturalOrder())) {
            Files.copy(path, target.resolve(source.relativize(path).toString()));
        }
    }

    /** Whether a directory is missing or empty. */
    public static boolean missingOrEmpty(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return true;
        }
        if (!Files.isDirectory(directory)) {
            return false;
        }
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.findAny().isEmpty();
        }
    }

    private static List<Path> walk(Path directory, Comparator<Path> order) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            return paths.sorted(order).toList();
        } catch (UncheckedIOException failure) {
            throw failure.getCause();
        }
    }
}
