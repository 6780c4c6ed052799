package io.caravan;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Where a frame, which is one group commit, becomes durable beyond this host's files. A frame says what was done and not
 * where values lie, so it means the same on every host: {@link Replica#replay} repeats it there.
 *
 * <p>A store commits its frames one after another, in the order of its log, on a thread of its own.
 */
@FunctionalInterface
public interface CommitLog {
    /** Nowhere else: a frame is as durable as the store's own log makes it. */
    CommitLog LOCAL = frame -> {};

    /**
     * Returns when the frame is durable: whoever leads the group from now on has it. Only then does the store write it
     * to its own log, and acknowledge what is in it.
     *
     * @param frame header and records, without the padding behind them; read-only, and only until this returns
     * @throws IOException when the frame was not committed, or nobody knows whether it was. The store fails, as after a
     *     failed force, and never hands over another frame
     */
    void commit(ByteBuffer frame) throws IOException;
}
