package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import java.nio.ByteBuffer;

/** Receives the checkpoints, lists, entries, values, and damage that {@link ContentsReader} finds. */
public interface ContentsVisitor {
    /**
     * Visits a checkpoint whose lists follow.
     *
     * @param startLsn the position at which replay starts
     * @param endLsn the position that the log must reach
     */
    void checkpoint(long number, String file, long startLsn, long endLsn, long lists, long entries);

    /**
     * Visits a list, or the next part of a list, whose entries follow.
     *
     * @param first first retained sequence of the list
     * @param next sequence of the list's next value
     * @param count entries in this part
     * @param bytes total length of the values of these entries
     */
    void list(long id, long first, long next, long count, long bytes);

    /** Visits an entry that is stored at this place. */
    void entry(long id, long sequence, ValueLocation place);

    /** Visits a value that is stored at this place. The bytes of the value have been checked. */
    void value(long id, long sequence, ValueLocation place, ByteBuffer value);

    /** Reports damage. The contents after the damage are visited next. */
    void damaged(CorruptStoreException damage);

    /**
     * Reports that the store has moved or trimmed values since the list was found. The values from this sequence on are
     * those of a later state.
     */
    void moved(long id, long sequence);
}
