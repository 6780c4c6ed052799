package io.caravan.server.document;

import java.nio.ByteBuffer;

/** Receives the values of one document, oldest first, on the reading thread. */
public interface DocumentReader {

    /**
     * Called once, before the first value, with the state of the document.
     *
     * @return false to receive no values
     */
    default boolean begin(DocumentInfo info) {
        return true;
    }

    /** Called once, before the first value, with the number of values that follow; 0 if the document does not exist. */
    default void begin(long count) {}

    /**
     * Receives the next value.
     *
     * @param value read-only, and valid only during the call
     * @return false to stop reading
     */
    boolean next(long sequence, ByteBuffer value);

    /**
     * Receives the next value and its arrival time.
     *
     * @param millis the server's time on arrival, in milliseconds since 1970
     * @param value read-only, and valid only during the call
     * @return false to stop reading
     */
    default boolean next(long sequence, long millis, ByteBuffer value) {
        return next(sequence, value);
    }
}
