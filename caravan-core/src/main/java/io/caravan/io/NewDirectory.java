package io.caravan.io;

import io.caravan.StoreDirectoryException;
import io.caravan.StoreLockedException;
import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A directory that receives its final name only when it is complete. Until then its name ends with {@value #ENDING}. A
 * crash leaves at most a directory with the temporary name, whose contents the next attempt deletes.
 */
public final class NewDirectory implements AutoCloseable {
    public static final String ENDING = ".partial";

    private final Path name;
    private final Path partial;
    private final FileStorage storage;
    private boolean published;

    private NewDirectory(Path name, Path partial, FileStorage storage) {
        this.name = name;
        this.partial = partial;
        this.storage = storage;
    }

    /**
     * Creates the directory under its temporary name.
     *
     * @param name the directory, which must not exist or must be empty
     * @param ours returns whether a file or directory may be left over from an interrupted attempt, and so may be
     *     deleted; receives its path in the new directory, with slashes
     * @throws StoreDirectoryException if the directory exists and is not empty
     * @throws StoreLockedException if another attempt for this name is in progress
     */
    public static NewDirectory begin(Path name, Predicate<String> ours) throws IOException {
        Path absolute = name.toAbsolutePath().normalize();
        removeEmpty(absolute);
        Path partial = parentOf(absolute).resolve(absolute.getFileName() + ENDING);
        FileStorage storage = open(partial, ours);
        try {
            deleteContents(partial);
            return new NewDirectory(absolute, partial, storage);
        } catch (IOException | RuntimeException failed) {
            storage.close();
            throw failed;
        }
    }

    /** Opens the directory. If it is new and its lock file cannot be created, as on a full disk, removes it again. */
    private static FileStorage open(Path partial, Predicate<String> ours) throws IOException {
        boolean existed = Files.exists(partial);
        try {
            return FileStorage.open(partial, FileStorage.Access.CREATE, any -> requireLeftovers(partial, ours));
        } catch (IOException failed) {
            try {
                if (!existed) {
                    Files.deleteIfExists(partial);
                }
            } catch (IOException notEmpty) {
                failed.addSuppressed(notEmpty);
            }
            throw failed;
        }
    }

    private static Path parentOf(Path name) {
        Path parent = name.getParent();
        if (parent == null) {
            throw new StoreDirectoryException(name + " is not the name of a directory");
        }
        return parent;
    }

    private static void requireLeftovers(Path partial, Predicate<String> ours) throws IOException {
        for (Path path : contents(partial)) {
            String name = partial.relativize(path).toString().replace(File.separatorChar, '/');
            if (!path.endsWith(DirectoryLock.FILE_NAME) && !ours.test(name)) {
                throw new StoreDirectoryException(
                        path + " is not a leftover of an earlier attempt; move it, or name another directory");
            }
        }
    }

    /**
     * Returns all files and directories in this directory, except the lock file. The contents of a subdirectory precede
     * the subdirectory.
     */
    private static List<Path> contents(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(
                            path -> !path.equals(directory) && !path.equals(directory.resolve(DirectoryLock.FILE_NAME)))
                    .sorted(Comparator.reverseOrder())
                    .toList();
        }
    }

    private static void deleteContents(Path directory) throws IOException {
        for (Path path : contents(directory)) {
            Files.delete(path);
        }
    }

    /**
     * Removes an existing empty directory before any file is created. This detects a mount point, which can be neither
     * removed nor replaced.
     */
    private static void removeEmpty(Path name) throws IOException {
        if (Files.isSymbolicLink(name)) {
            throw new StoreDirectoryException(name + " is a symbolic link; name the directory that is to be created");
        }
        if (!Files.exists(name)) {
            return;
        }
        if (!Files.isDirectory(name)) {
            throw new StoreDirectoryException(name + " is a file; name a directory that does not exist yet");
        }
        try (var files = Files.newDirectoryStream(name)) {
            if (files.iterator().hasNext()) {
                throw new StoreDirectoryException(name + " exists and is not empty; name a new directory");
            }
        }
        try {
            Files.delete(name);
        } catch (FileSystemException kept) {
            throw new StoreDirectoryException(
                    name + " cannot be replaced (" + FileStorage.reason(kept) + "); name a new directory inside it");
        }
    }

    public Storage storage() {
        return storage;
    }

    /** Returns the directory's temporary path, in which callers may create subdirectories. */
    public Path path() {
        return partial;
    }

    /** Durably renames the directory to its final name. The files in it must be durable and closed. */
    public void publish() throws IOException {
        // Fails if the directory exists again and is not empty. The lock is released afterwards, because another
        // attempt for this name deletes the files that it finds.
        Files.move(partial, name, StandardCopyOption.ATOMIC_MOVE);
        published = true;
        storage.close();
        FileStorage.force(parentOf(name));
    }

    /** Removes the directory if it was not published. */
    @Override
    public void close() throws IOException {
        if (published) {
            return;
        }
        // The lock is released last, because a lock on a deleted lock file excludes no later attempt.
        try (storage) {
            deleteContents(partial);
            Files.deleteIfExists(partial.resolve(DirectoryLock.FILE_NAME));
            Files.deleteIfExists(partial);
        }
    }
}
