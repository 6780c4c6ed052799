package io.caravan.inspect;

import io.caravan.CorruptStoreException;
import java.nio.ByteBuffer;

/** Takes what {@link ContentsReader} finds. */
public interface ContentsVisitor {
    /**
     * A checkpoint whose lists follow.
     *
     * @param startLsn replay starts here
     * @param endLsn the log must reach this position
     */
    void checkpoint(long number, String file, long startLsn, long endLsn, long lists, long entries);

    /**
     * A list, or the next part of one, whose entries follow.
     *
     * @param first first retained sequence of the list
     * @param next the sequence that its next value gets
     * @param count entries in this part
     * @param bytes of the values of these
     */
    void list(long id, long first, long next, long count, long bytes);

    /** An entry, and where it lies. */
    void entry(long id, long sequence, Place place);

    /** A value, and where it lies; its bytes were checked. */
    void value(long id, long sequence, Place place, ByteBuffer value);

    /** What should be here is not what was written; what is behind it follows. */
    void damaged(CorruptStoreException damage);

    /** The store has moved or trimmed, since the list was found, what was to be read: from this value on it is another state. */
    void moved(long id, long sequence);
}
