package io.caravan.cluster;

import io.caravan.FrameReplicator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Replicates the frames of the leading store during one term of leadership. Proposes frames to the group, one at a
 * time, and blocks the store's flusher until each frame is committed. Once the term is abandoned, this object commits
 * no more frames, and a waiting flusher fails.
 */
final class RaftFrameReplicator implements FrameReplicator {
    /** The function that submits an entry to Raft, and fails the proposal if Raft does not commit the entry. */
    private final BiConsumer<byte[], Proposal> propose;
    /** The function that encodes a frame as an entry of the Raft log. */
    private final Function<ByteBuffer, byte[]> entry;

    private @Nullable Proposal pending;
    private @Nullable Throwable abandoned;
    private byte @Nullable [] lastCommitted;

    RaftFrameReplicator(BiConsumer<byte[], Proposal> propose, Function<ByteBuffer, byte[]> entry) {
        this.propose = propose;
        this.entry = entry;
    }

    @Override
    public void commit(ByteBuffer frame) throws IOException {
        byte[] made = entry.apply(frame);
        Proposal proposal = start(new Proposal(frame));
        propose.accept(made, proposal);
        proposal.await();
    }

    private synchronized Proposal start(Proposal proposal) throws IOException {
        if (abandoned != null) {
            throw new IOException("this node is no longer the leader", abandoned);
        }
        pending = proposal;
        return proposal;
    }

    /** Handles a committed frame. If the store is waiting for it, wakes the flusher and returns true. */
    synchronized boolean committed(ByteBuffer frame) {
        Proposal proposal = pending;
        if (proposal == null || !proposal.isOf(frame)) {
            return false;
        }
        lastCommitted = new byte[frame.remaining()];
        frame.get(frame.position(), lastCommitted);
        pending = null;
        proposal.commit();
        return true;
    }

    /** Ends the store's term of leadership. Later calls do not replace the reason. */
    synchronized void abandon(Throwable why) {
        if (abandoned == null) {
            abandoned = why;
        }
        if (pending != null) {
            pending.fail(why);
            pending = null;
        }
    }

    /** Whether the store is waiting for this proposal, in this term. */
    synchronized boolean waitsFor(Proposal proposal) {
        return pending == proposal;
    }

    synchronized boolean isAbandoned() {
        return abandoned != null;
    }

    /**
     * Returns the last committed frame, or null if there is none. The store writes a frame only after it is notified of
     * the commit, so a store that fails in between may lack this frame. The store has written every earlier frame.
     */
    synchronized @Nullable ByteBuffer lastCommitted() {
        return lastCommitted == null ? null : ByteBuffer.wrap(lastCommitted);
    }
}
