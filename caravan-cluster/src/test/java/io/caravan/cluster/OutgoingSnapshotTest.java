package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.caravan.cluster.AppliedIndex.Applied;
import io.caravan.cluster.SnapshotMessage.Kind;
import io.caravan.cluster.SnapshotMessage.Reply;
import io.caravan.cluster.SnapshotMessage.Request;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;

/** Tests of the transfer of chunks from the thread that produces them to the node that requests them. */
final class OutgoingSnapshotTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final OutgoingSnapshot copy = new OutgoingSnapshot(4711, LONG);

    private static ByteBuffer piece(int content) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(0, content);
    }

    private static Reply read(CompletableFuture<ByteString> encoded) throws Exception {
        return Reply.decode(encoded.get());
    }

    private static void assertPiece(CompletableFuture<ByteString> encoded, int content) throws Exception {
        Reply reply = read(encoded);
        assertThat(reply.kind()).isEqualTo(Kind.PIECE);
        assertThat(reply.readProgress()).isEqualTo(new GroupMember.FileProgress(12, 34));
        assertThat(reply.body().getInt()).isEqualTo(content);
    }

    @Test
    void deliversChunksInOrderForEarlyAndLateRequests() throws Exception {
        copy.reachesStep(12, 34);
        CompletableFuture<ByteString> before = copy.request(0);
        copy.take(piece(1));
        assertPiece(before, 1);
        copy.take(piece(2));
        copy.take(piece(3));
        assertPiece(copy.request(1), 2);
        assertPiece(copy.request(2), 3);
        Applied last = new Applied(TermIndex.valueOf(3, 300), 4096);
        copy.end(last);
        assertThat(read(copy.request(3)).readEnd()).isEqualTo(last);
    }

    @Test
    void returnsWaitIfNoChunkIsReady() throws Exception {
        assertThat(read(copy.request(0)).kind()).isEqualTo(Kind.WAIT);
        copy.take(piece(1));
        assertThat(read(copy.request(0)).kind()).isEqualTo(Kind.PIECE);
    }

    @Test
    void rejectsRepeatedOrSkippedChunkRequest() throws Exception {
        copy.take(piece(1));
        assertThat(copy.request(1)).isCompletedExceptionally();
        copy.request(0).get();
        assertThat(copy.request(0)).isCompletedExceptionally();
    }

    @Test
    void producerWaitsForSpaceAndFailsWithTransfer() throws Exception {
        copy.take(piece(1));
        copy.take(piece(2));
        CompletableFuture<Throwable> made = new CompletableFuture<>();
        Thread maker = new Thread(() -> {
            try {
                copy.take(piece(3));
                copy.take(piece(4));
                made.complete(new AssertionError("there was room"));
            } catch (IOException ended) {
                made.complete(ended);
            }
        });
        maker.start();
        Eventually.awaitWaitingOrDone(maker);
        copy.request(0).get();
        Eventually.awaitWaitingOrDone(maker);
        copy.fail(new IOException("it leads no longer"));
        assertThat(made.get()).hasRootCauseMessage("it leads no longer");
        assertThat(copy.request(1)).isCompletedExceptionally();
    }

    @Test
    void failsIfReceiverRequestsNothing() throws IOException {
        OutgoingSnapshot impatient = new OutgoingSnapshot(1, Duration.ofMillis(1));
        impatient.take(piece(1));
        impatient.take(piece(2));
        assertThatIOException().isThrownBy(() -> impatient.take(piece(3))).withMessageContaining("requested nothing");
    }

    /**
     * Tests that the goal of a copy does not advance. Otherwise, a receiver that always lags slightly would prevent
     * every purge.
     */
    @Test
    void goalStaysAtFirstGivenEntry() {
        assertThat(copy.goal(300)).isEqualTo(300);
        assertThat(copy.goal(400)).isEqualTo(300);
    }

    @Test
    void rejectsDamagedReply() throws Exception {
        copy.take(piece(1));
        byte[] whole = copy.request(0).get().toByteArray();
        for (int i = 0; i < whole.length; i++) {
            byte[] damaged = whole.clone();
            damaged[i] ^= 1;
            assertThatIOException().isThrownBy(() -> Reply.decode(ByteString.copyFrom(damaged)));
        }
        assertThatIOException().isThrownBy(() -> Reply.decode(ByteString.copyFrom(whole, 0, 3)));
    }

    @Test
    void decodesRequestsAndRejectsNewerVersion() throws IOException {
        Request request = new Request(4711, 5, "host-a");
        assertThat(Request.decode(request.encode())).isEqualTo(request);
        byte[] newer = request.encode().toByteArray();
        newer[0]++;
        assertThatIOException()
                .isThrownBy(() -> Request.decode(ByteString.copyFrom(newer)))
                .withMessageContaining("version 2");
        assertThatIOException().isThrownBy(() -> Request.decode(ByteString.copyFrom(newer, 0, 10)));
    }
}
