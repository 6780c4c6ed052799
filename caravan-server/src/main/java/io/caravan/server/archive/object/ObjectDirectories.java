package io.caravan.server.archive.object;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/** Creates a directory when it receives its first file, and removes it when its last file is deleted. */
final class ObjectDirectories {
    /** Maximum number of times that a directory may be removed before its first file is moved into it. */
    private static final int TRIES = 100;

    private ObjectDirectories() {}

    /** Creates a directory and its missing parents, durably. */
    static void createDurably(Path directory) throws IOException {
        Path parent = directory.getParent();
        if (parent != null && !Files.exists(directory)) {
            createDurably(parent);
            Files.createDirectories(directory);
            force(parent);
        }
    }

    /** Moves a file to its place atomically, replacing any existing file, and creates missing directories. */
    static void move(Path from, Path to) throws IOException {
        Path directory = to.getParent();
        for (int tried = 1; ; tried++) {
            try {
                Files.createDirectories(directory);
                Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
                return;
            } catch (NoSuchFileException | FileAlreadyExistsException gone) {
                // Another process has deleted the last file in this directory, or in one above it, and then the
                // directory. This happened after this method had created the directory or found that it existed.
                if (tried == TRIES || !Files.exists(from)) {
                    throw gone;
                }
            }
        }
    }

    /** Makes a file's name and its directories' names durable, since the directories may not have been fsynced yet. */
    static void forceAbove(Path file, Path root) throws IOException {
        for (Path directory = above(file); !directory.equals(root); directory = above(directory)) {
            try {
                force(directory);
            } catch (NoSuchFileException deleted) {
                // Another process has deleted the file and the directory, so no name has to become durable.
            }
        }
        force(root);
    }

    private static void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Removes directories below the root that have become empty because a file was deleted. */
    static void removeEmptyAbove(Path file, Path root) throws IOException {
        try {
            for (Path directory = above(file); !directory.equals(root); directory = above(directory)) {
                Files.deleteIfExists(directory);
            }
        } catch (DirectoryNotEmptyException inUse) {
            // The usual case: this directory and those above it stay.
        }
    }

    /** Returns the parent of a path. It exists, because the path is below a root. */
    private static Path above(Path path) {
        return Objects.requireNonNull(path.getParent());
    }
}
