package io.caravan.cluster;

import io.caravan.format.FrameLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A proposed frame whose outcome the leader's flusher awaits. */
final class Proposal {
    private final long lsn;
    private final int checksum;
    private final CompletableFuture<Void> committed = new CompletableFuture<>();

    Proposal(ByteBuffer frame) {
        ByteBuffer header = FrameEntry.header(frame);
        this.lsn = header.getLong(FrameLayout.LSN);
        this.checksum = header.getInt(FrameLayout.CRC);
    }

    boolean isOf(ByteBuffer frame) {
        ByteBuffer header = FrameEntry.header(frame);
        return header.limit() >= FrameLayout.HEADER_BYTES
                && header.getLong(FrameLayout.LSN) == lsn
                && header.getInt(FrameLayout.CRC) == checksum;
    }

    void commit() {
        committed.complete(null);
    }

    void fail(Throwable problem) {
        committed.completeExceptionally(problem);
    }

    /** Waits until the group has committed the frame, even if interrupted. Preserves the interrupt status. */
    void await() throws IOException {
        try {
            committed.join();
        } catch (CompletionException failed) {
            throw new IOException(
                    "the group has not committed the frame at LSN " + lsn + ": " + failed.getCause(),
                    failed.getCause());
        }
    }
}
