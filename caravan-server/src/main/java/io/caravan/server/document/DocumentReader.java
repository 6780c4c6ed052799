package io.caravan.server.document;

import java.nio.ByteBuffer;

/** Receives the values of one document, oldest first, on the reading thread. */
public interface DocumentReader {

    /** Called once, before the first value, with the number of values that follow. */
    default void begin(long count) {}

    /**
     * Receives the next value.
     *
     * @param value read-only, and valid only during the call
     * @return false to stop here
     */
    boolean next(long sequence, ByteBuffer value);

    /**
     * Receives the next value, of which it is known when it came.
     *
     * @param millis the server's time then, in milliseconds since 1970
     * @param value as of {@link #next}
     * @return false to stop here
     */
    default boolean next(long sequence, long millis, ByteBuffer value) {
        return next(sequence, value);
    }
}
