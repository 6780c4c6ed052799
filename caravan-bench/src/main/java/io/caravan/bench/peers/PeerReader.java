package io.caravan.bench.peers;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads lists for one thread. */
public interface PeerReader extends AutoCloseable {
    /** Takes one value; the buffer's bytes are there during the call only. */
    interface Sink {
        void value(ByteBuffer value);
    }

    /** Hands out the values of a list, oldest first. */
    void read(long id, Sink sink) throws IOException;

    /** Hands out the values of all lists whose ids are below a bound, in whatever order is cheapest. */
    default void readAll(long ids, Sink sink) throws IOException {
        for (long id = 0; id < ids; id++) {
            read(id, sink);
        }
    }

    @Override
    void close() throws IOException;
}
