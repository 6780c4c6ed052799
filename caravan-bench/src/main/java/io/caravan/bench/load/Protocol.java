package io.caravan.bench.load;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The protocol that a load uses: encodes appends and parses replies. Used by one thread at a time. */
public interface Protocol {
    /** Returns an append of one value to a document, in wire format. Callers must not modify the array. */
    byte[] append(int document);

    /** Creates the reader of one connection's replies. */
    ReplyReader replies();

    /** Returns a byte that occurs exactly once in each append, by which {@link Echo} recognizes the append. */
    byte mark();

    /** Returns the reply that {@link Echo} sends. */
    byte[] reply();

    /** Parses the replies on one connection. */
    interface ReplyReader {
        /** Receives each reply, in order. */
        interface Replies {
            /** Called when the next reply has arrived. {@code error} is true if the reply is an error. */
            void replied(boolean error) throws IOException;
        }

        /**
         * Parses all these bytes, continuing where the last call ended.
         *
         * @throws IOException if the bytes are not a reply
         */
        void read(ByteBuffer bytes, Replies replies) throws IOException;
    }
}
