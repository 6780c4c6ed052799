package io.caravan.io;

import io.caravan.StoreLockedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;

/**
 * Ensures that at most one store has a directory open. A file lock excludes other processes. A registry excludes other
 * stores of this process, because file locks have no effect within a process.
 *
 * <p>The lock file contains the process id of its owner, for information only. The operating system holds the lock
 * itself, so a killed process leaves no lock.
 */
final class DirectoryLock {
    static final String FILE_NAME = "caravan.lock";
    private static final int OWNER_BYTES = 64;
    /**
     * The prefix of the registry's system property names; the rest of each name is the directory's file key, which stays
     * the same when the directory is renamed. System properties are the only state that all copies of this class share,
     * regardless of their class loaders. The registry is checked before the lock file is opened, because a close of the
     * file would release this process's lock.
     */
    private static final String HELD_HERE = "io.caravan.lock.";

    private final String property;
    private final FileChannel channel;

    private DirectoryLock(String property, FileChannel channel) {
        this.property = property;
        this.channel = channel;
    }

    /**
     * Acquires the lock on a directory.
     *
     * @param shared whether several readers may share the lock; the lock file must then exist, and is not written
     */
    static DirectoryLock acquire(Path directory, boolean shared) throws IOException {
        Path real = directory.toRealPath();
        Object key = Files.readAttributes(real, BasicFileAttributes.class).fileKey();
        String property = HELD_HERE + (key == null ? real : key);
        if (System.getProperties().putIfAbsent(property, "held") != null) {
            throw new StoreLockedException(directory.toString(), "this process");
        }
        try {
            return new DirectoryLock(property, lockFile(real, shared));
        } catch (IOException | RuntimeException failed) {
            System.clearProperty(property);
            throw failed;
        }
    }

    @SuppressWarnings("resource") // the lock lives as long as its channel, which release() closes
    private static FileChannel lockFile(Path directory, boolean shared) throws IOException {
        Set<StandardOpenOption> options = shared
                ? Set.of(StandardOpenOption.READ)
                : Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileChannel channel = FileChannel.open(directory.resolve(FILE_NAME), options);
        try {
            if (channel.tryLock(0, Long.MAX_VALUE, shared) == null) {
                throw new StoreLockedException(directory.toString(), owner(channel));
            }
            if (!shared) {
                writeOwner(channel);
            }
            return channel;
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

    /** Writes the id of this process to the lock file, unless that fails, for example on a full disk. */
    private static void writeOwner(FileChannel channel) throws IOException {
        String owner = "process " + ProcessHandle.current().pid() + "\n";
        try {
            channel.truncate(0);
            channel.write(ByteBuffer.wrap(owner.getBytes(StandardCharsets.UTF_8)), 0);
        } catch (IOException notWritten) {
            if (!channel.isOpen()) {
                throw notWritten;
            }
        }
    }

    /** Releases the lock. A second call does not release a lock that another store has acquired in the meantime. */
    synchronized void release() throws IOException {
        if (channel.isOpen()) {
            try {
                channel.close();
            } finally {
                System.clearProperty(property);
            }
        }
    }
}
