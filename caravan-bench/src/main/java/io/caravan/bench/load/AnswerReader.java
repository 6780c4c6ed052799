package io.caravan.bench.load;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Parses the answers on one connection. */
public interface AnswerReader {
    /** Notified of each answer, in order. */
    interface Answers {
        /** Another request has been answered; {@code error} when the answer is an error. */
        void answered(boolean error) throws IOException;
    }

    /**
     * Continues where the last call ended, and consumes all bytes.
     *
     * @throws IOException when the bytes are not an answer
     */
    void read(ByteBuffer bytes, Answers answers) throws IOException;
}
