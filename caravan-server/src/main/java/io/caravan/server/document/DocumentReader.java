package io.caravan.server.document;

import java.nio.ByteBuffer;

/** Receives the values of one document, oldest first, on the reading thread. */
public interface DocumentReader {

    /** So many values follow; told once, before the first. */
    void begin(long count);

    /**
     * Takes one value.
     *
     * @param value read-only, and valid only during the call
     * @return false to stop here
     */
    boolean next(long sequence, ByteBuffer value);
}
