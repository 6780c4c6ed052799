package io.caravan.bench.load;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Parses the replies on one connection. */
public interface AnswerReader {
    /** Notified of each reply, in order. */
    interface Answers {
        /** Called when the reply to another request has arrived; {@code error} when it is an error. */
        void answered(boolean error) throws IOException;
    }

    /**
     * Continues where the last call ended, and consumes all bytes.
     *
     * @throws IOException when the bytes are not a reply
     */
    void read(ByteBuffer bytes, Answers answers) throws IOException;
}
