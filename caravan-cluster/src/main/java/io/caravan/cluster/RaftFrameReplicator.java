package io.caravan.cluster;

import io.caravan.FrameReplicator;
import io.caravan.format.FrameLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Replicates the frames of the leading store during one term of leadership. Proposes frames to the group, one at a
 * time, and blocks the store's flusher until each frame is committed. Once the term is abandoned, this object commits
 * no more frames, and a waiting flusher fails.
 */
final class RaftFrameReplicator implements FrameReplicator {
    /** The function that submits an entry to Raft, and fails the commit if Raft does not commit the entry. */
    private final BiConsumer<byte[], CompletableFuture<Void>> propose;
    /** The function that encodes a frame as an entry of the Raft log. */
    private final Function<ByteBuffer, byte[]> entry;

    /** The commit for which the flusher waits, or null. The LSN and the checksum identify its frame. */
    private @Nullable CompletableFuture<Void> pending;

    private long lsn;
    private int checksum;
    private @Nullable Throwable abandoned;
    private byte @Nullable [] lastCommitted;

    RaftFrameReplicator(BiConsumer<byte[], CompletableFuture<Void>> propose, Function<ByteBuffer, byte[]> entry) {
        this.propose = propose;
        this.entry = entry;
    }

    /** Waits until the group has committed the frame, even if interrupted. Preserves the interrupt status. */
    @Override
    public void commit(ByteBuffer frame) throws IOException {
        byte[] made = entry.apply(frame);
        CompletableFuture<Void> commit = start(FrameEntry.header(frame));
        propose.accept(made, commit);
        try {
            commit.join();
        } catch (CompletionException failed) {
            throw new IOException(
                    "the group has not committed the frame at LSN " + FrameEntry.lsn(frame) + ": " + failed.getCause(),
                    failed.getCause());
        }
    }

    private synchronized CompletableFuture<Void> start(ByteBuffer header) throws IOException {
        if (abandoned != null) {
            throw new IOException("this node is no longer the leader", abandoned);
        }
        lsn = header.getLong(FrameLayout.LSN);
        checksum = header.getInt(FrameLayout.CRC);
        pending = new CompletableFuture<>();
        return pending;
    }

    /** Handles a committed frame. If the store is waiting for it, wakes the flusher and returns true. */
    synchronized boolean committed(ByteBuffer frame) {
        ByteBuffer header = FrameEntry.header(frame);
        if (pending == null
                || header.limit() < FrameLayout.HEADER_BYTES
                || header.getLong(FrameLayout.LSN) != lsn
                || header.getInt(FrameLayout.CRC) != checksum) {
            return false;
        }
        lastCommitted = new byte[frame.remaining()];
        frame.get(frame.position(), lastCommitted);
        pending.complete(null);
        pending = null;
        return true;
    }

    /** Ends the store's term of leadership. Later calls do not replace the reason. */
    synchronized void abandon(Throwable why) {
        if (abandoned == null) {
            abandoned = why;
        }
        if (pending != null) {
            pending.completeExceptionally(why);
            pending = null;
        }
    }

    /** Whether the store is waiting for this commit, in this term. */
    synchronized boolean waitsFor(CompletableFuture<Void> commit) {
        return pending == commit;
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
