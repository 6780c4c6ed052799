package io.caravan.server.document;

import java.nio.ByteBuffer;

/** Receives a document as of one moment, on the reading thread. */
public interface DocumentSnapshotVisitor {

    /**
     * Called once, before the values.
     *
     * @return false to skip the values
     */
    boolean begin(DocumentInfo info);

    /**
     * Receives the next value, from the oldest retained one to the last.
     *
     * @param value read-only, and valid only during the call
     */
    void next(long sequence, ByteBuffer value);
}
