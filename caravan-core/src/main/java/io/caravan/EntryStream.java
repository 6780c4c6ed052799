package io.caravan;

import java.nio.ByteBuffer;

/** Receives the entries of one list, on the reading thread and in the order that the read says. */
@FunctionalInterface
public interface EntryStream {

    /**
     * Takes one entry.
     *
     * @param value read-only, from position 0 to the value's length, and valid only during the call: copy what is
     *     needed later, as the memory behind it may be unmapped, and touching it then may kill the process
     * @return false to stop here; {@link #finished()} is not called then
     */
    boolean next(long sequence, ByteBuffer value);

    /** There are no more entries. */
    default void finished() {}
}
