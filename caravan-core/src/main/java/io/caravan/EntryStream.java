package io.caravan;

import java.nio.ByteBuffer;

/** Receives the entries of one list, oldest first, on the reading thread. */
public interface EntryStream {

    /**
     * Takes one entry.
     *
     * @param value read-only, from position 0 to the value's length, and valid only during the call: copy what is needed
     *     later, as the memory behind it may be unmapped, and touching it then may kill the process
     * @return false to stop here; {@link #finished()} is then not called
     */
    boolean next(long sequence, ByteBuffer value);

    /** The end of the list was reached. */
    void finished();
}
