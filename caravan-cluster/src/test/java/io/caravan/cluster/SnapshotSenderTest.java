package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.Replica;
import io.caravan.cluster.AppliedIndex.Applied;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how long copies are known, because a copy keeps the part of the Raft log that its receiver needs. */
final class SnapshotSenderTest {
    private static final Applied START = new Applied(TermIndex.valueOf(3, 300), 4096);

    private final CountDownLatch broken = new CountDownLatch(1);
    private final SnapshotSender sender = new SnapshotSender("a", new SnapshotSender.Source() {
        @Override
        public Replica replica() {
            throw new IllegalStateException("the copy fails before it reads files");
        }

        @Override
        public Applied start(OutgoingSnapshot copy) throws IOException {
            copy.startAt(START);
            try {
                broken.await();
            } catch (InterruptedException hurried) {
                throw new InterruptedIOException();
            }
            throw new IOException("broken on purpose");
        }
    });

    private CompletableFuture<ByteString> begin(String node) {
        return sender.request(new SnapshotMessage.Request(4711, 0, node).encode(), any -> true);
    }

    @AfterEach
    void endCopies() {
        broken.countDown();
    }

    /** A copy that begins during the end of a term must end too, or remain known. */
    @Test
    void stopForgetsNoCopyThatGoesOn() {
        AtomicReference<CompletableFuture<ByteString>> second = new AtomicReference<>();
        begin("b").whenComplete((chunk, ended) -> second.set(begin("c")));
        sender.stop("this node is no longer the leader");
        assertThat(second.get().isCompletedExceptionally()
                        || sender.progress("c").isPresent())
                .isTrue();
        assertThat(sender.progress("b")).isEmpty();
    }

    @Test
    void keepsRaftLogForCopyUntilItEnds() {
        begin("b");
        Eventually.await("the copy has begun", () -> sender.firstNeeded().isPresent());
        sender.forget(1_000, node -> 1_000L, node -> true);
        assertThat(sender.firstNeeded()).hasValue(START.entry().getIndex());
        broken.countDown();
        Eventually.await("the copy has failed", () -> sender.progress("b").isEmpty());
        assertThat(sender.firstNeeded()).hasValue(START.entry().getIndex());
        sender.forget(1_000, node -> -1L, node -> false);
        assertThat(sender.firstNeeded()).isEmpty();
    }
}
