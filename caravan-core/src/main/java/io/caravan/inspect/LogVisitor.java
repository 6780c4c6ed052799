package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import java.nio.ByteBuffer;

/** Receives the contents of a log, and any damage, from {@link LogReader}, in log order. All positions are LSNs. */
public interface LogVisitor {
    /** Visits a segment, whose records follow. */
    void segment(long number, String file);

    /**
     * Visits a value that the next frame appends. Called for all values of the frame before any of its records is
     * visited, because the catalog entry with a document's name follows the document's first value.
     */
    default void ahead(long id, ByteBuffer value) {}

    /**
     * Visits an append.
     *
     * @param entryLsn the position of the value's entry
     * @param value the bytes of the value; they are overwritten after this method returns
     */
    void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer value);

    void trim(long lsn, long id, long firstSequence);

    void delete(long lsn, long id);

    /** Reports that the log from one position (inclusive) to another (exclusive) was recycled before it was read. */
    void missed(long from, long to);

    /** Reports damage. The next record visited follows the damage. */
    void damaged(CorruptStoreException damage);
}
