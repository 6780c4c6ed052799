package io.caravan;

import java.nio.ByteBuffer;

/** Receives the entries of one list, in the order of the read, on the thread that called the read method. */
@FunctionalInterface
public interface EntryStream {

    /**
     * Receives one entry.
     *
     * @param value the bytes of the value, read-only, from position 0 to the value's length, and valid only during the
     *     call. Copy bytes that are needed later: their memory may be unmapped, and accessing it may then crash the
     *     process
     * @return false to end the read; {@link #finished()} is then not called
     */
    boolean next(long sequence, ByteBuffer value);

    /** Reports that the stream has received all entries. */
    default void finished() {}
}
