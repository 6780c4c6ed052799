package io.caravan.bench.peers;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads lists from a {@link PeerStore}. Not thread-safe. */
public interface PeerReader extends AutoCloseable {
    /** Receives one value; the buffer is valid only during the call. */
    interface Sink {
        void value(ByteBuffer value);
    }

    /** Passes the values of a list to {@code sink}, oldest first. */
    void read(long id, Sink sink) throws IOException;

    /** Passes the values of all lists whose ids are below {@code ids} to {@code sink}, in the cheapest order. */
    default void readAll(long ids, Sink sink) throws IOException {
        for (long id = 0; id < ids; id++) {
            read(id, sink);
        }
    }

    @Override
    default void close() throws IOException {}
}
