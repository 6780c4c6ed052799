package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.document.DelayedBarrier;
import io.caravan.server.document.ReadBarrier;
import io.caravan.testing.Eventually;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests linearizable reads from a cluster node over HTTP. */
final class LinearizableReadsTest {
    private static final String TEXT = "text/plain";

    private final DelayedBarrier delayedBarrier = new DelayedBarrier();

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
        server.create("/v1/stream/a", TEXT);
        server.append("/v1/stream/a", TEXT, "one");
    }

    @Test
    void rejectsReadsUnlessLeadershipIsConfirmed() throws Exception {
        server.documents.readBarrier(DelayedBarrier.rejecting("no majority has responded"));
        for (List<String> request : List.of(
                List.of("GET", "/v1/stream/a", ""),
                List.of("GET", "/v1/stream/a?offset=-1&live=long-poll", ""),
                List.of("GET", "/v1/stream/a?offset=-1&live=sse", ""),
                List.of("GET", "/v1/stream/absent", ""),
                List.of("HEAD", "/v1/stream/a", ""),
                List.of("GET", "/v1/documents", ""),
                List.of("GET", "/v1/values/a", ""),
                List.of("POST", "/v1/live", "{\"streams\":[{\"path\":\"a\",\"offset\":\"-1\"}]}"),
                List.of("PUT", "/v1/stream/a", ""),
                List.of("POST", "/v1/stream/absent", "v"),
                List.of("DELETE", "/v1/stream/absent", ""))) {
            HttpResponse<String> response =
                    server.send(request.get(0), request.get(1), request.get(2), "Content-Type", TEXT);
            assertThat(response.statusCode()).as(request.toString()).isEqualTo(503);
            assertThat(response.headers().firstValue("Retry-After")).hasValue("1");
            if (!request.get(0).equals("HEAD")) {
                assertThat(response.body()).contains("\"read_unconfirmed\"", "no majority has responded");
            }
        }
        server.documents.readBarrier(ReadBarrier.NONE);
        assertThat(server.get("/v1/stream/a").body()).isEqualTo("one");
    }

    @Test
    void readWaitsForBarrierAndWriteDoesNot() throws Exception {
        server.documents.readBarrier(delayedBarrier.barrier());
        CompletableFuture<HttpResponse<String>> read = server.sendAsync("GET", "/v1/stream/a");
        Eventually.await("the read waits at the barrier", () -> delayedBarrier.asked() == 1);
        assertThat(server.append("/v1/stream/a", TEXT, " two").statusCode()).isEqualTo(204);
        assertThat(read).isNotDone();
        delayedBarrier.pass();
        assertThat(read.get().body()).isEqualTo("one two");
    }

    /** A live read must use the read barrier only at its start. Later values are new commits, so they are not stale. */
    @Test
    void liveReadUsesBarrierOnlyAtStart() throws Exception {
        String tail = server.get("/v1/stream/a")
                .headers()
                .firstValue("Stream-Next-Offset")
                .orElseThrow();
        server.documents.readBarrier(delayedBarrier.barrier());
        CompletableFuture<HttpResponse<String>> poll =
                server.sendAsync("GET", "/v1/stream/a?live=long-poll&offset=" + tail);
        Eventually.await("the read waits at the barrier", () -> delayedBarrier.asked() == 1);
        delayedBarrier.pass();
        server.awaitTailedDocuments(1);
        server.append("/v1/stream/a", TEXT, "two");
        assertThat(poll.get().body()).isEqualTo("two");
        assertThat(delayedBarrier.asked()).isZero();
    }
}
