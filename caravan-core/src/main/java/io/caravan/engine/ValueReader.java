package io.caravan.engine;

import io.caravan.CorruptStoreException;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import io.caravan.heap.HeapFile;
import io.caravan.wal.LogSegments;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads and checks values from the log or the heap.
 *
 * @param endLsn the end of the log, or any position after all values to be read
 */
public record ValueReader(HeapFile heapFile, LogSegments log, LongSupplier endLsn) {
    /**
     * Returns the value of a pinned entry as a read-only buffer. A value in the heap is valid while the entry is pinned
     * and the heap file is retained. A value in the log is copied.
     *
     * @return null if the entry was in the log and has moved to the heap
     * @throws CorruptStoreException if the bytes are not those of this entry
     */
    public @Nullable ByteBuffer read(long region, long id, long creationLsn, long sequence) {
        return Region.isInLog(region)
                ? readFromLog(region, id, creationLsn, sequence)
                : heapFile.read(region, id, creationLsn, sequence);
    }

    private @Nullable ByteBuffer readFromLog(long region, long id, long creationLsn, long sequence) {
        long lsn = Region.entryLsn(region, endLsn.getAsLong());
        int length = Region.length(region);
        int bytes = Region.entryBytes(region);
        if (lsn < 0 || bytes > log.geometry().remaining(lsn)) {
            throw corrupt(log, lsn, id, sequence, "the index has the entry here, where none can be");
        }
        ByteBuffer entry = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        try {
            if (!log.copy(lsn, entry, bytes)) {
                return null;
            }
        } catch (InternalError unreadable) {
            // The JVM throws this if the disk cannot read a mapped page.
            throw corrupt(log, lsn, id, sequence, "cannot be read: " + unreadable);
        }
        if (!EntryLayout.valid(entry, 0, length, id, creationLsn, sequence)) {
            throw corrupt(log, lsn, id, sequence, "the entry's bytes are not those that were written");
        }
        return entry.slice(EntryLayout.VALUE, length).asReadOnlyBuffer();
    }

    /** Returns the exception for a damaged entry in the log. */
    static CorruptStoreException corrupt(LogSegments log, long lsn, long id, long sequence, String problem) {
        long position = Math.max(0, lsn);
        return new CorruptStoreException(
                log.describe(log.geometry().segmentOf(position)),
                log.geometry().offsetOf(position),
                id,
                sequence,
                problem);
    }
}
