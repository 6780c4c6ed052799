package io.caravan.server.archive.object;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * The directory in which files are written before they are moved to their places. The directory is next to these
 * places, and no key has its name. A process that begins to write while no other process writes removes the files of
 * killed processes.
 *
 * <p>To detect each other, all writing processes share a lock on a file for as long as they may write. The stores of a
 * directory in one process share one such lock, because closing any channel of a file releases all of the process's
 * locks on it.
 */
final class Staging implements AutoCloseable {
    private static final String DIRECTORY = "~tmp";
    /** A name that refers to the staging directory if the file system ignores case. */
    private static final String IN_CAPITALS = "~TMP";

    private static final String LOCK_NAME = "~writers";
    private static final int BUFFER_BYTES = 64 * 1024;

    /** The open instances of this process, by real directory; guarded by itself. */
    private static final Map<Path, Staging> OPEN = new HashMap<>();

    private final Path target;
    private final FileChannel lock;
    /** The number of stores of this process that write here; guarded by {@link #OPEN}. */
    private int users;

    private Staging(Path target, FileChannel lock) {
        this.target = target;
        this.lock = lock;
    }

    /** Begins to write to a directory, and creates it if it is missing. Every call requires a {@link #close}. */
    static Staging begin(Path target) throws IOException {
        ObjectDirectories.createDurably(target.resolve(DIRECTORY));
        rejectIfCaseIsIgnored(target);
        Path real = target.toRealPath();
        synchronized (OPEN) {
            Staging staging = OPEN.get(real);
            if (staging == null) {
                staging = new Staging(real, lock(real));
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
    static void rejectIfCaseIsIgnored(Path target) throws IOException {
        if (Files.exists(target.resolve(DIRECTORY)) && Files.exists(target.resolve(IN_CAPITALS))) {
            throw new CaseIgnoredException(target.toString());
        }
    }

    @SuppressWarnings("resource") // the last user closes the channel, and with it the lock
    private static FileChannel lock(Path target) throws IOException {
        FileChannel channel = FileChannel.open(
                target.resolve(LOCK_NAME),
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

    interface Move {
        void move(Path from) throws IOException;
    }

    /** Writes a file, durably, and has it moved to its place. Deletes the file if it has not been moved. */
    void stage(ObjectStore.Content content, Move move) throws IOException {
        Path file = target.resolve(DIRECTORY).resolve(UUID.randomUUID().toString());
        try (Closeable removal = () -> Files.deleteIfExists(file)) {
            try (FileChannel channel =
                    FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER_BYTES);
                content.writeTo(out);
                out.flush();
                channel.force(true);
            }
            move.move(file);
        }
    }

    @Override
    public void close() throws IOException {
        synchronized (OPEN) {
            users--;
            if (users == 0) {
                OPEN.remove(target);
                lock.close();
            }
        }
    }

    /** Thrown when the directory is on a case-insensitive file system. */
    static final class CaseIgnoredException extends IOException {
        private static final long serialVersionUID = 1L;

        CaseIgnoredException(String target) {
            super("the file system of " + target + " does not distinguish capital letters from small ones, so documents"
                    + " would overwrite each other: choose a directory on another file system");
        }
    }
}
