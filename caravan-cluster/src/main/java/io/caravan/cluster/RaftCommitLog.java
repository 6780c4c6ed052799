package io.caravan.cluster;

import io.caravan.CommitLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One term of leadership: hands the frames of the leading store to the group, one at a time, and lets the store's flusher
 * wait until each is committed. Once abandoned it commits nothing more, and what waits fails.
 */
final class RaftCommitLog implements CommitLog {
    /** Hands an entry to Raft, which tells the proposal if it fails. */
    private final BiConsumer<byte[], Proposal> propose;
    /** Makes the entry of a frame. */
    private final Function<ByteBuffer, byte[]> entry;

    private @Nullable Proposal pending;
    private @Nullable Throwable abandoned;
    private byte @Nullable [] lastCommitted;

    /** A term that begins. */
    RaftCommitLog(BiConsumer<byte[], Proposal> propose, Function<ByteBuffer, byte[]> entry) {
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
            throw new IOException("this host leads its group no longer", abandoned);
        }
        pending = proposal;
        return proposal;
    }

    /** The group has committed a frame. Returns whether it is the one that the store waits for, which then goes on. */
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

    /** Ends the term for the store; the first reason counts. */
    synchronized void abandon(Throwable why) {
        if (abandoned == null) {
            abandoned = why;
        }
        if (pending != null) {
            pending.fail(why);
            pending = null;
        }
    }

    /** Whether the store waits for this proposal, in this term. */
    synchronized boolean waitsFor(Proposal proposal) {
        return pending == proposal;
    }

    synchronized boolean isAbandoned() {
        return abandoned != null;
    }

    /**
     * The frame committed last, or null. The store writes it after it was told, so a store that fails meanwhile may lack
     * it; all before it are written.
     */
    synchronized @Nullable ByteBuffer lastCommitted() {
        return lastCommitted == null ? null : ByteBuffer.wrap(lastCommitted);
    }
}
