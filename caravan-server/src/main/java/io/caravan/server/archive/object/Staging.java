package io.caravan.server.archive.object;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The directory in which files are written before they are moved to their places. The directory is next to these
 * places, and no key has its name. A place's directory is created with its first file, and removed with its last. A
 * process that begins to write while no other process writes removes the files of killed processes.
 *
 * <p>If the path of the places contains a symbolic link that is changed while this process writes, the staging directory
 * stays where it was. The places, and the lock of {@link #decide}, follow the link, as reads do.
 *
 * <p>To detect each other, all writing processes share a lock on a file for as long as they may write. The stores of a
 * directory in one process share one such lock, because closing any channel of a file releases all of the process's
 * locks on it.
 */
final class Staging implements AutoCloseable {
    private static final String DIRECTORY = "~tmp";
    /** A name that refers to the staging directory if the file system ignores case. */
    private static final String IN_CAPITALS = "~TMP";

    private static final String WRITERS_LOCK = "~writers";
    private static final String DECISION_LOCK = "~lock";
    private static final int BUFFER_BYTES = 64 * 1024;
    /** Maximum number of times that a directory may be removed before its first file is moved into it. */
    private static final int TRIES = 100;

    /** The open instances of this process, by real directory; guarded by itself. */
    private static final Map<Path, Staging> OPEN = new HashMap<>();
    /** The lock of each real directory for {@link #decide}. Never removed, because there are few. */
    private static final Map<Path, ReentrantLock> DECISIONS = new ConcurrentHashMap<>();

    private final Path target;
    private final FileChannel writers;
    /** The number of stores of this process that write here; guarded by {@link #OPEN}. */
    private int users;

    private Staging(Path target) throws IOException {
        this.target = target;
        this.writers = lock(target);
    }

    /** Begins to write to a directory, and creates it if it is missing. Every call requires a {@link #close}. */
    static Staging begin(Path target) throws IOException {
        createDurably(target.resolve(DIRECTORY));
        rejectIfCaseIsIgnored(target);
        Path real = target.toRealPath();
        synchronized (OPEN) {
            Staging staging = OPEN.get(real);
            if (staging == null) {
                staging = new Staging(real);
                OPEN.put(real, staging);
            }
            staging.users++;
            return staging;
        }
    }

    /**
     * Throws if the staging directory exists on a case-insensitive file system, where different documents could get the
     * same file.
     */
    static void rejectIfCaseIsIgnored(Path target) {
        if (Files.exists(target.resolve(DIRECTORY)) && Files.exists(target.resolve(IN_CAPITALS))) {
            throw new ObjectStoreException(
                    ObjectStoreException.Kind.CORRUPT,
                    "the file system of " + target
                            + " does not distinguish capital letters from small ones, so documents"
                            + " would overwrite each other: choose a directory on another file system",
                    null);
        }
    }

    @SuppressWarnings("resource") // the last user closes the channel, and with it the lock
    private static FileChannel lock(Path target) throws IOException {
        FileChannel channel = FileChannel.open(
                target.resolve(WRITERS_LOCK),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        try {
            try (FileLock alone = channel.tryLock()) {
                if (alone != null) {
                    removeAll(target.resolve(DIRECTORY));
                }
            }
            channel.lock(0, Long.MAX_VALUE, true);
            return channel;
        } catch (IOException | RuntimeException failed) {
            channel.close();
            throw failed;
        }
    }

    private static void removeAll(Path directory) throws IOException {
        try (DirectoryStream<Path> leftovers = Files.newDirectoryStream(directory)) {
            for (Path leftover : leftovers) {
                Files.deleteIfExists(leftover);
            }
        }
    }

    interface Action {
        void run() throws IOException;
    }

    /**
     * Writes a file, and moves it to its place, durably. Deletes the file if it has not been moved.
     *
     * @param root the directory of all places, as it was passed to {@link #begin}
     * @param condition throws if the file must not be moved; null if there is no condition
     */
    void put(Path place, Path root, ObjectStore.Content content, @Nullable Action condition) throws IOException {
        Path file = target.resolve(DIRECTORY).resolve(UUID.randomUUID().toString());
        try (Closeable removal = () -> Files.deleteIfExists(file)) {
            try (FileChannel channel =
                    FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER_BYTES);
                content.writeTo(out);
                out.flush();
                channel.force(true);
            }
            if (condition == null) {
                move(file, place);
            } else {
                decide(root, () -> {
                    condition.run();
                    move(file, place);
                });
            }
        }
        forceAbove(place, root);
    }

    /**
     * Runs a conditional put or deletion. Across all processes, only one thread at a time runs such an action. A file
     * lock excludes other processes. A lock in memory excludes other threads of this process, which the operating
     * system's locks do not exclude.
     *
     * <p>The file is opened for each action. An interrupt closes the channel on which the caller waits, so it affects
     * only that call. A process opens the file at most once at a time, because closing any channel of a file releases
     * all of the process's locks on it.
     */
    static void decide(Path root, Action decision) throws IOException {
        Path real = root.toRealPath();
        ReentrantLock deciding = DECISIONS.computeIfAbsent(real, unused -> new ReentrantLock());
        try {
            deciding.lockInterruptibly();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        try (FileChannel channel = FileChannel.open(
                        real.resolve(DECISION_LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            decision.run();
        } finally {
            deciding.unlock();
        }
    }

    /** Creates a directory and its missing parents, durably. */
    private static void createDurably(Path directory) throws IOException {
        Path parent = directory.getParent();
        if (parent != null && !Files.exists(directory)) {
            createDurably(parent);
            Files.createDirectories(directory);
            force(parent);
        }
    }

    /** Moves a file to its place atomically, replacing any existing file, and creates missing directories. */
    private static void move(Path from, Path to) throws IOException {
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
    private static void forceAbove(Path file, Path root) throws IOException {
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

    @Override
    public void close() throws IOException {
        synchronized (OPEN) {
            users--;
            if (users == 0) {
                OPEN.remove(target);
                writers.close();
            }
        }
    }
}
