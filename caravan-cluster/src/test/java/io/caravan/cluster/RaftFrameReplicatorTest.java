package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.caravan.format.FrameLayout;
import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.StoreCalls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/**
 * Tests of the replication of a leader's frames. Each test plays the role of the group, and commits or rejects the
 * frames.
 */
@LongTimeout
final class RaftFrameReplicatorTest {
    private static final long LSN = 4096;

    private final List<byte[]> proposed = Collections.synchronizedList(new ArrayList<>());
    private final RaftFrameReplicator log =
            new RaftFrameReplicator((entry, proposal) -> proposed.add(entry), StoreCalls::copyOf);

    static ByteBuffer frame(long lsn) {
        ByteBuffer frame = ByteBuffer.allocate(2 * FrameLayout.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        return frame.putLong(FrameLayout.LSN, lsn).putInt(FrameLayout.CRC, (int) lsn);
    }

    /**
     * Starts to commit a frame. Returns once the frame is proposed and the store is waiting for the group, or once the
     * commit has ended.
     */
    private CompletableFuture<Void> commit(ByteBuffer frame) {
        int before = proposed.size();
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread flusher = new Thread(() -> {
            try {
                log.commit(frame);
                done.complete(null);
            } catch (IOException failed) {
                done.completeExceptionally(failed);
            }
        });
        flusher.start();
        Eventually.await("the frame is proposed", () -> proposed.size() > before || done.isDone());
        Eventually.awaitWaitingOrDone(flusher);
        return done;
    }

    @Test
    void waitsUntilGroupCommitsFrame() {
        CompletableFuture<Void> waiting = commit(frame(LSN));
        assertThat(proposed).containsExactly(frame(LSN).array());
        assertThat(waiting).isNotDone();
        assertThat(log.committed(frame(LSN - 1))).isFalse();
        assertThat(waiting).isNotDone();
        assertThat(log.committed(frame(LSN))).isTrue();
        waiting.join();
        assertThat(log.committed(frame(LSN))).as("once only").isFalse();
    }

    @Test
    void lastCommittedIgnoresUncommittedFrames() {
        assertThat(log.lastCommitted()).isNull();
        commit(frame(LSN));
        assertThat(log.lastCommitted()).isNull();
        log.committed(frame(LSN));
        CompletableFuture<Void> second = commit(frame(2 * LSN));
        log.abandon(new IOException("another node leads"));
        assertThatExceptionOfType(CompletionException.class).isThrownBy(second::join);
        assertThat(log.lastCommitted()).isEqualTo(frame(LSN));
    }

    @Test
    void endOfTermFailsPendingCommit() {
        CompletableFuture<Void> waiting = commit(frame(LSN));
        log.abandon(new IOException("another node leads"));
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(waiting::join)
                .withMessageContaining("has not committed the frame at LSN 4096")
                .withMessageContaining("another node leads");
        assertThat(log.committed(frame(LSN))).as("too late").isFalse();
    }

    @Test
    void proposesNothingAfterEndOfTerm() {
        log.abandon(new IOException("another node leads"));
        log.abandon(new IOException("a second reason"));
        assertThatIOException()
                .isThrownBy(() -> log.commit(frame(LSN)))
                .withMessageContaining("this node is no longer the leader")
                .havingCause()
                .withMessage("another node leads");
        assertThat(proposed).isEmpty();
    }
}
