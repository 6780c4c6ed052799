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

/** Directories that come when a file does, and go when the last one has gone. */
final class Directories {
    /** How often a directory may be taken away between its creation and its first file. */
    private static final int TRIES = 100;

    private Directories() {}

    /** Creates a directory and those above it, each durable. */
    static void createDurably(Path directory) throws IOException {
        Path parent = directory.getParent();
        if (parent != null && !Files.exists(directory)) {
            createDurably(parent);
            Files.createDirectories(directory);
            force(parent);
        }
    }

    /** Moves a file to its place at once, in place of one that is there, and creates the directories that it needs. */
    static void move(Path from, Path to) throws IOException {
        Path directory = to.getParent();
        for (int tried = 1; ; tried++) {
            try {
                Files.createDirectories(directory);
                Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
                return;
            } catch (NoSuchFileException | FileAlreadyExistsException gone) {
                // Somebody deleted the last file in the directory or one above it, and that with it, meanwhile: after
                // it was created, or while that failed because it was there.
                if (tried == TRIES || !Files.exists(from)) {
                    throw gone;
                }
            }
        }
    }

    /**
     * Makes a file's name durable, with the names of the directories that it is in: whoever created them may not have
     * got so far yet.
     */
    static void forceAbove(Path file, Path root) throws IOException {
        for (Path directory = above(file); !directory.equals(root); directory = above(directory)) {
            try {
                force(directory);
            } catch (NoSuchFileException deleted) {
                // With the file, by somebody else, who is right: the file was there, and is not any more.
            }
        }
        force(root);
    }

    private static void force(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Removes the directories below the root that a deleted file has left empty. */
    static void removeEmptyAbove(Path file, Path root) throws IOException {
        try {
            for (Path directory = above(file); !directory.equals(root); directory = above(directory)) {
                Files.deleteIfExists(directory);
            }
        } catch (DirectoryNotEmptyException inUse) {
            // As most are: it stays, and so do those above it.
        }
    }

    /** The directory of what is below a root, and so in one. */
    private static Path above(Path path) {
        return Objects.requireNonNull(path.getParent());
    }
}
