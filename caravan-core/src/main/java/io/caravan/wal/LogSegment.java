package io.caravan.wal;

import io.caravan.io.MappedFile;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.StampedLock;

/**
 * An open segment: a file to which the flusher writes through a channel, and a mapping for readers. Readers must not
 * use a channel, because an interrupt would close it.
 *
 * <p>A reader holds the lock while it copies an entry. Closing the segment takes the lock permanently. It waits for
 * readers that are copying, and later readers find the segment closed.
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

    /** Copies bytes of the segment, starting at an offset, to a buffer. Returns false if the segment is closed. */
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

    /** Closes the segment. May be called again after a failure. */
    void close() throws IOException {
        if (!readers.isWriteLocked()) {
            readers.writeLock();
            mapping.unmap();
        }
        file.close();
    }
}
