package io.caravan.server.document;

import java.nio.ByteBuffer;

/** Receives the contents of a document at a single point in time, on the reading thread. */
public interface DocumentSnapshotVisitor {

    /**
     * Called once, before the first value, with the state of the document.
     *
     * @return false to skip the values
     */
    boolean begin(DocumentInfo info);

    /**
     * Receives the next retained value, in order from the oldest to the newest.
     *
     * @param value read-only, and valid only during the call
     */
    void next(long sequence, ByteBuffer value);
}
