package io.caravan.io;

import io.caravan.StoreLockedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Lets only one store open a directory: a file lock keeps out other processes, and a registry this one, as the
 * operating system's locks do not work within a process.
 *
 * <p>The lock file holds its owner's process id for people to read. The lock itself is the operating system's, so a
 * killed process leaves none behind.
 */
final class DirectoryLock {
    static final String FILE_NAME = "caravan.lock";
    private static final int OWNER_BYTES = 64;
    /**
     * The registry is made of system properties, named by this prefix and a directory: nothing else is shared by all
     * copies of this class, whatever their class loaders. It is asked before the file is opened, as closing that again
     * would release this process's lock.
     */
    private static final String HELD_HERE = "io.caravan.lock.";

    private final Path realDirectory;
    private final FileChannel channel;

    private DirectoryLock(Path realDirectory, FileChannel channel) {
        this.realDirectory = realDirectory;
        this.channel = channel;
    }

    static DirectoryLock acquire(Path directory) throws IOException {
        return acquire(directory, DirectoryLock::lockFile);
    }

    /** Takes a lock that others may share who only read; writes nothing. The lock file must be there. */
    static DirectoryLock acquireShared(Path directory) throws IOException {
        return acquire(directory, DirectoryLock::shareFile);
    }

    /** How the lock of a directory is taken. */
    @FunctionalInterface
    private interface Taking {
        DirectoryLock take(Path directory) throws IOException;
    }

    private static DirectoryLock acquire(Path directory, Taking taking) throws IOException {
        Path real = directory.toRealPath();
        if (System.getProperties().putIfAbsent(HELD_HERE + real, "held") != null) {
            throw new StoreLockedException(directory.toString(), "this process");
        }
        try {
            return taking.take(real);
        } catch (IOException | RuntimeException failed) {
            System.clearProperty(HELD_HERE + real);
            throw failed;
        }
    }

    @SuppressWarnings("resource") // the lock lives as long as its channel, which release() closes
    private static DirectoryLock lockFile(Path directory) throws IOException {
        FileChannel channel = FileChannel.open(
                directory.resolve(FILE_NAME),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        try {
            FileLock lock = channel.tryLock();
            if (lock == null) {
                throw new StoreLockedException(directory.toString(), owner(channel));
            }
            writeOwner(channel);
            return new DirectoryLock(directory, channel);
        } catch (IOException | RuntimeException failed) {
            channel.close();
            throw failed;
        }
    }

    @SuppressWarnings("resource") // the lock lives as long as its channel, which release() closes
    private static DirectoryLock shareFile(Path directory) throws IOException {
        FileChannel channel = FileChannel.open(directory.resolve(FILE_NAME), StandardOpenOption.READ);
        try {
            if (channel.tryLock(0, Long.MAX_VALUE, true) == null) {
                throw new StoreLockedException(directory.toString(), owner(channel));
            }
            return new DirectoryLock(directory, channel);
        } catch (IOException | RuntimeException failed) {
            channel.close();
            throw failed;
        }
    }

    private static String owner(FileChannel channel) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(OWNER_BYTES);
        channel.read(text, 0);
        String owner = new String(text.array(), 0, text.position(), StandardCharsets.UTF_8).trim();
        return owner.isEmpty() ? "another process" : owner;
    }

    private static void writeOwner(FileChannel channel) throws IOException {
        channel.truncate(0);
        String owner = "process " + ProcessHandle.current().pid() + "\n";
        channel.write(ByteBuffer.wrap(owner.getBytes(StandardCharsets.UTF_8)), 0);
    }

    void release() throws IOException {
        try {
            channel.close();
        } finally {
            System.clearProperty(HELD_HERE + realDirectory);
        }
    }
}
