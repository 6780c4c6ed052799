package io.caravan.bench.load;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Finds the answers in what comes over one connection. */
public interface AnswerReader {
    /** Is told of each answer, in order. */
    interface Answers {
        /** One more request has been answered; {@code error} when with an error. */
        void answered(boolean error);
    }

    /**
     * Reads on from where the last call ended, and takes all bytes.
     *
     * @throws IOException when what comes is no answer
     */
    void read(ByteBuffer bytes, Answers answers) throws IOException;
}
