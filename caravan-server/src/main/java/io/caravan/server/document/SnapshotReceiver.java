package io.caravan.server.document;

import java.nio.ByteBuffer;

/** Receives a document as it was at one moment, on the reading thread. */
public interface SnapshotReceiver {

    /**
     * The document; told once, before its values.
     *
     * @return false to leave it at that
     */
    boolean begin(DocumentInfo info);

    /**
     * Takes one value; all retained ones are told, oldest first.
     *
     * @param value read-only, and valid only during the call
     */
    void next(long sequence, ByteBuffer value);
}
