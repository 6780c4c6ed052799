package io.caravan.server.archive.object;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets one thread of all processes at a time decide on a condition: a lock on a file against other processes, and one
 * in memory against this one, as an operating system's locks do not hold inside a process.
 *
 * <p>The file is opened anew each time, so that a caller that is interrupted, which closes the channel it waits on,
 * spoils nothing but its own call. It is only ever open once in a process: closing any channel of a file gives up all
 * of the process's locks on it.
 */
final class FolderLock {
    private static final String FILE_NAME = "~lock";
    /** By real folder, for all stores of this process; there are few. */
    private static final Map<Path, ReentrantLock> HERE = new ConcurrentHashMap<>();

    private final Path file;
    private final ReentrantLock here;

    /** What is done while nobody else decides. */
    interface Decision {
        void run() throws IOException;
    }

    /** For a folder that is there. */
    FolderLock(Path folder) throws IOException {
        Path real = folder.toRealPath();
        this.file = real.resolve(FILE_NAME);
        this.here = HERE.computeIfAbsent(real, unused -> new ReentrantLock());
    }

    /** Waits for its turn and runs the decision. */
    void decide(Decision decision) throws IOException {
        try {
            here.lockInterruptibly();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            decision.run();
        } finally {
            here.unlock();
        }
    }
}
