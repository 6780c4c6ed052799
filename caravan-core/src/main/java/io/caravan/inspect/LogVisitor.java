package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import java.nio.ByteBuffer;

/** Takes what {@link LogReader} finds, in the order of the log. All positions are LSNs. */
public interface LogVisitor {
    /** The records that follow are in this file. */
    void segment(long number, String file);

    /**
     * A value that the next frame appends: called for all of them before any of its records is visited. A document's
     * name stands behind its first value.
     */
    default void ahead(long id, ByteBuffer value) {}

    /**
     * A value was appended.
     *
     * @param entryLsn where the value's entry begins, which is where a region says that it lies
     * @param value its bytes; they are overwritten when this returns
     */
    void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer value);

    void trim(long lsn, long id, long firstSequence);

    void delete(long lsn, long id);

    /** The log from one position to before another was recycled before it was read. */
    void missed(long from, long to);

    /** What should be here is not what was written; the next record is behind it. */
    void damaged(CorruptStoreException damage);
}
