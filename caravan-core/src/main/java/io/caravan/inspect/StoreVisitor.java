package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import io.caravan.format.RecordLayout;
import java.nio.ByteBuffer;

/**
 * Receives the contents of a store's files, and any damage. {@link LogReader} reports segments and records, in log
 * order; {@link ContentsReader} reports checkpoints, lists, entries, and values.
 */
public interface StoreVisitor extends RecordLayout.Visitor {
    /** Visits a segment of the log, whose records follow. */
    default void segment(long number, String file) {}

    /**
     * Visits a value that the next frame appends. Called for all values of the frame before any of its records is
     * visited, because the catalog entry with a document's name follows the document's first value.
     */
    default void ahead(long id, ByteBuffer value) {}

    /** Visits an append. The bytes in the buffer are overwritten after this method returns. */
    @Override
    default void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int entryAt, int length) {}

    /** Reports that the log from one LSN (inclusive) to another (exclusive) was recycled before it was read. */
    default void missed(long from, long to) {}

    /**
     * Visits a checkpoint whose lists follow.
     *
     * @param startLsn the position at which replay starts
     * @param endLsn the position that the log must reach
     */
    default void checkpoint(long number, String file, long startLsn, long endLsn, long lists, long entries) {}

    /**
     * Visits a list, or the next part of a list, whose entries follow.
     *
     * @param first first retained sequence of the list
     * @param next sequence of the list's next value
     * @param count entries in this part
     * @param bytes total length of the values of these entries
     */
    default void list(long id, long first, long next, long count, long bytes) {}

    /** Visits an entry that is stored at this place. */
    default void entry(long id, long sequence, ValueLocation place) {}

    /** Visits a value that is stored at this place. The bytes of the value have been checked. */
    default void value(long id, long sequence, ValueLocation place, ByteBuffer value) {}

    /**
     * Reports that the store has moved or trimmed values since the list was found. The values from this sequence on are
     * those of a later state.
     */
    default void moved(long id, long sequence) {}

    /** Reports damage. The contents after the damage are visited next. */
    void damaged(CorruptStoreException damage);
}
