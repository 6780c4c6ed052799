package io.caravan.wal;

import io.caravan.io.MappedFile;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.StampedLock;

/**
 * One open segment: a file for the flusher, which writes by its channel, and a mapping for readers, who must not touch
 * a channel, as an interrupt would close it.
 *
 * <p>A reader holds the lock for as long as it copies an entry. Whoever closes the segment takes the lock for good: it
 * waits for the readers that are copying, and later ones find the segment gone.
 */
final class LogSegment {
    private final long number;
    private final StoreFile file;
    private final MappedFile mapping;
    private final StampedLock readers = new StampedLock();

    LogSegment(long number, StoreFile file) throws IOException {
        this.number = number;
        this.file = file;
        this.mapping = file.map();
    }

    long number() {
        return number;
    }

    StoreFile file() {
        return file;
    }

    /** Adds bytes to a buffer; false when the segment has been closed. */
    boolean copy(int offset, ByteBuffer target, int bytes) {
        long stamp = readers.tryReadLock();
        if (stamp == 0) {
            return false;
        }
        try {
            mapping.copy(offset, target, bytes);
            return true;
        } finally {
            readers.unlockRead(stamp);
        }
    }

    /** May be called again when it has failed. */
    void close() throws IOException {
        if (!readers.isWriteLocked()) {
            readers.writeLock();
            mapping.unmap();
        }
        file.close();
    }
}
