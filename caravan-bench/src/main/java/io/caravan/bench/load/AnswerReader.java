package io.caravan.bench.load;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Parses the replies on one connection. */
public interface AnswerReader {
    /** Receives each reply, in order. */
    interface Answers {
        /** Called when the next reply has arrived. {@code error} is true if the reply is an error. */
        void answered(boolean error) throws IOException;
    }

    /**
     * Parses all these bytes, continuing where the last call ended.
     *
     * @throws IOException if the bytes are not a reply
     */
    void read(ByteBuffer bytes, Answers answers) throws IOException;
}
