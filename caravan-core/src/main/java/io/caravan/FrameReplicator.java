package io.caravan;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Replicates frames to the other nodes of a replication group. A frame is one group commit. It contains writes, but no
 * locations of values in the heap, so every node can apply it with {@link Replica#replay}.
 *
 * <p>A store commits its frames one after another, in log order, on a store thread.
 */
@FunctionalInterface
public interface FrameReplicator {
    /** A replicator that does nothing: the durability of a frame depends only on the store's own log. */
    FrameReplicator LOCAL = frame -> {};

    /**
     * Commits a frame. When this returns, every later leader of the group is guaranteed to have the frame. Only then
     * does the store write the frame to its own log and acknowledge the writes.
     *
     * @param frame header and records, without the padding that follows them; read-only, and valid only until this
     *     returns
     * @throws IOException if the frame was not committed, or if the outcome is unknown. In both cases, the store fails,
     *     as after a failed fsync, and submits no further frame
     */
    void commit(ByteBuffer frame) throws IOException;
}
