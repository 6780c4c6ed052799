package io.caravan.server.protocol.http;

import static io.caravan.server.protocol.http.HttpFixture.header;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.Eventually;
import io.netty.channel.Channel;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests reads that wait for values: long polls and event streams. */
class LiveTest {
    private static final String TEXT = "text/plain";

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
        server.create("/v1/stream/a", TEXT);
    }

    private CompletableFuture<HttpResponse<String>> poll(String offset) {
        return server.sendAsync("GET", "/v1/stream/a?live=long-poll&offset=" + offset);
    }

    @Test
    void thousandPollsReceiveSameValue() throws Exception {
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 1_000; i++) {
                RawClient client = server.raw();
                clients.add(client);
                client.send(RawClient.get("/v1/stream/a?live=long-poll&offset=-1"));
            }
            Eventually.await("all are connected", () -> server.connections() == 1_001);
            server.append("/v1/stream/a", TEXT, "news");
            for (RawClient client : clients) {
                RawClient.Response response = client.read();
                assertThat(response.body()).isEqualTo("news");
                assertThat(response.headers()).containsKey("stream-cursor");
            }
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
        Eventually.await("no request waits", () -> server.documents.tailedDocuments() == 0);
    }

    @Test
    void pollFromNowIsNotCacheable() throws Exception {
        CompletableFuture<HttpResponse<String>> poll = poll("now");
        // Appends repeatedly, because the poll ignores values that are appended before it determines the current end.
        while (!poll.isDone()) {
            server.append("/v1/stream/a", TEXT, "news");
        }
        assertThat(poll.get().body()).startsWith("news");
        assertThat(header(poll.get(), "Cache-Control")).isEqualTo("no-store");
        assertThat(header(poll.get(), "ETag")).isNull();
        HttpResponse<String> known = server.get("/v1/stream/a?live=long-poll&offset=" + Offset.of(0));
        assertThat(header(known, "Cache-Control")).startsWith("public");
        assertThat(header(known, "ETag")).isNotNull();
    }

    @Test
    void pollReportsFirstOffsetWhenValuesAreTrimmed() throws Exception {
        CompletableFuture<HttpResponse<String>> poll = poll(Offset.of(0));
        server.awaitTailedDocuments(1);
        Function<EditedDocument, Boolean> appendAndTrim = document -> {
            document.append(List.of(new byte[1]));
            document.trimTo(1);
            return true;
        };
        Outcome.<Boolean>await(outcome -> server.documents.write(DocumentName.of("a"), appendAndTrim, outcome));
        HttpFixture.assertProblem(poll.get(), 410, "offset_trimmed");
        assertThat(header(poll.get(), "Stream-First-Offset")).isEqualTo(Offset.of(1));
    }

    @Test
    void pollEndsWhenStreamIsDeleted() throws Exception {
        CompletableFuture<HttpResponse<String>> poll = poll("now");
        server.awaitTailedDocuments(1);
        server.send("DELETE", "/v1/stream/a", null);
        assertThat(poll.get().statusCode()).isEqualTo(404);
    }

    @Test
    void pollEndsWhenStreamIsClosed() throws Exception {
        CompletableFuture<HttpResponse<String>> poll = poll("now");
        server.awaitTailedDocuments(1);
        server.send("POST", "/v1/stream/a", null, "Stream-Closed", "true");
        assertThat(poll.get().statusCode()).isEqualTo(204);
        assertThat(header(poll.get(), "Stream-Closed")).isEqualTo("true");
    }

    @Test
    void timedOutPollReportsOffset() throws Exception {
        try (HttpFixture impatient = HttpFixture.impatient()) {
            impatient.create("/v1/stream/a", TEXT);
            HttpResponse<String> nothing = impatient.get("/v1/stream/a?live=long-poll&offset=now");
            assertThat(nothing.statusCode()).isEqualTo(204);
            assertThat(header(nothing, "Stream-Next-Offset")).isEqualTo(Offset.of(0));
            assertThat(header(nothing, "Stream-Up-To-Date")).isEqualTo("true");
            assertThat(header(nothing, "Stream-Cursor")).matches("[0-9]+");
            impatient.awaitTailedDocuments(0);
        }
    }

    @Test
    void stopsTailingAfterClientDisconnects() throws Exception {
        try (RawClient raw = server.raw();
                RawClient events = server.raw()) {
            raw.send(RawClient.get("/v1/stream/a?live=long-poll&offset=now"));
            events.send(RawClient.get("/v1/stream/a?live=sse&offset=now"));
            server.awaitTailedDocuments(1);
        }
        server.awaitTailedDocuments(0);
    }

    @Test
    void valuesCannotForgeEvents() throws Exception {
        server.append("/v1/stream/a", TEXT, " x\r\revent: control\ndata: {}\r\n\r\nid: 7\n");
        server.send("POST", "/v1/stream/a", null, "Stream-Closed", "true");
        String events = server.get("/v1/stream/a?live=sse&offset=-1").body();
        assertThat(events)
                .isEqualTo(
                        "event: data\ndata:  x\ndata:\ndata:event: control\ndata:data: {}\ndata:\ndata:id: 7\ndata:\n\n"
                                + "event: control\ndata:{\"streamNextOffset\":\"" + Offset.of(1)
                                + "\",\"upToDate\":true,\"streamClosed\":true}\n\n");
    }

    @Test
    void eventStreamEncodesBytesInBase64() throws Exception {
        server.create("/v1/stream/b", "application/x-bytes");
        server.append("/v1/stream/b", "application/x-bytes", "a");
        server.append("/v1/stream/b", "application/x-bytes", "b");
        server.send("POST", "/v1/stream/b", null, "Stream-Closed", "true");
        HttpResponse<String> events = server.get("/v1/stream/b?live=sse&offset=-1");
        assertThat(header(events, "Stream-SSE-Data-Encoding")).isEqualTo("base64");
        assertThat(events.body()).startsWith("event: data\ndata:YWI=\n\nevent: control\n");
    }

    /** HTTP/1.0 has no chunks. Such a client also follows the stream at the same position as a client of HTTP/1.1. */
    @Test
    void http10ClientReceivesEventsWithoutChunks() throws Exception {
        try (HttpFixture beating = HttpFixture.beating(Duration.ofMillis(20));
                RawClient old = beating.raw();
                RawClient current = beating.raw()) {
            beating.create("/v1/stream/a", TEXT);
            old.send("GET /v1/stream/a?live=sse&offset=now HTTP/1.0\r\n\r\n");
            assertThat(old.head().headers()).doesNotContainKey("transfer-encoding");
            assertThat(old.line()).isEqualTo("event: control");
            assertThat(old.line()).contains("\"upToDate\":true");
            assertThat(old.line()).isEmpty();
            assertThat(old.line()).isEqualTo(":");
            current.send(RawClient.get("/v1/stream/a?live=sse&offset=now"));
            current.head();
            assertThat(current.chunk()).contains("\"upToDate\":true");
            assertThat(current.chunk()).isEqualTo(":\n\n");
            beating.append("/v1/stream/a", TEXT, "value");
            beating.send("POST", "/v1/stream/a", null, "Stream-Closed", "true");
            String chunk = current.chunk();
            while (chunk.equals(":\n\n")) {
                chunk = current.chunk();
            }
            assertThat(chunk).startsWith("event: data\ndata:value\n\nevent: control\n");
            String rest = old.rest().replace(":\n\n", "");
            assertThat(rest).contains("event: data\ndata:value\n\nevent: control\ndata:{\"streamNextOffset\":");
            assertThat(rest).endsWith("\"streamClosed\":true}\n\n").doesNotContain("\r");
        }
    }

    @Test
    void sendsEventForEachAppendedValue() throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send(RawClient.get("/v1/stream/a?live=sse&offset=now"));
            assertThat(raw.head().status()).isEqualTo(200);
            assertThat(raw.chunk()).contains("\"upToDate\":true");
            for (int i = 0; i < 50; i++) {
                server.append("/v1/stream/a", TEXT, "value " + i);
                assertThat(raw.chunk())
                        .startsWith("event: data\ndata:value " + i + "\n\nevent: control\ndata:{\"streamNextOffset\":\""
                                + Offset.of(i + 1));
            }
            server.send("POST", "/v1/stream/a", null, "Stream-Closed", "true");
            assertThat(raw.chunk()).contains("\"streamClosed\":true");
            assertThat(raw.chunk()).isEmpty();
        }
    }

    @Test
    void eventStreamEndsAfterTimeout() throws Exception {
        try (HttpFixture impatient = HttpFixture.impatient()) {
            impatient.create("/v1/stream/a", TEXT);
            String events = impatient.get("/v1/stream/a?live=sse&offset=-1").body();
            assertThat(events).startsWith("event: control").doesNotContain("streamClosed");
        }
    }

    @Test
    void liveReadsEndWhenServerStops() throws Exception {
        server.create("/v1/stream/b", TEXT);
        CompletableFuture<HttpResponse<String>> poll =
                server.sendAsync("GET", "/v1/stream/b?live=long-poll&offset=now");
        try (RawClient raw = server.raw()) {
            raw.send(RawClient.get("/v1/stream/a?live=sse&offset=now"));
            assertThat(raw.head().status()).isEqualTo(200);
            raw.chunk();
            server.awaitTailedDocuments(2);
            CompletableFuture<Void> drained = CompletableFuture.runAsync(server::drain);
            assertThat(raw.chunk()).isEmpty();
            assertThat(raw.atEnd()).isTrue();
            drained.get();
        }
        assertThat(poll.get().statusCode()).isIn(204, 503);
    }

    /** A live read with a large request must be closed if other requests need its memory. The client can repeat it. */
    @Test
    void closesLiveReadThatHoldsMuchWhenRequestMemoryIsFull() throws Exception {
        Duration stall = Duration.ofMillis(500);
        try (HttpFixture full =
                new HttpFixture(ListStore.inMemory(), Authenticator.open(), HttpFixture.LONG, stall).serve()) {
            full.create("/v1/stream/a", TEXT);
            try (RawClient raw = full.raw()) {
                raw.send(RawClient.get("/v1/stream/a?live=long-poll&offset=now"));
                full.awaitTailedDocuments(1);
                for (Channel channel : full.network.connections()) {
                    ConnectionMemory memory = channel.pipeline().get(ConnectionMemory.class);
                    channel.eventLoop().execute(() -> memory.hold(HttpFixture.TOTAL_BYTES));
                }
                assertThat(raw.atEnd()).isTrue();
            }
        }
    }

    @Test
    void disconnectsStalledReadersWithoutBlockingThreads() throws Exception {
        try (HttpFixture impatient = HttpFixture.dropping(Duration.ofSeconds(1))) {
            impatient.create("/v1/stream/a", TEXT);
            for (int i = 0; i < 200; i++) {
                impatient.append("/v1/stream/a", TEXT, "x".repeat(HttpFixture.MAX_BODY_BYTES));
            }
            List<RawClient> clients = new ArrayList<>();
            // Starts more readers than the server has reading threads.
            for (int i = 0; i < 8; i++) {
                RawClient client = impatient.raw();
                clients.add(client);
                client.send(RawClient.get(i % 2 == 0 ? "/v1/stream/a" : "/v1/stream/a?live=sse&offset=-1"));
            }
            assertThat(impatient.get("/v1/stream/a").body()).hasSize(200 * HttpFixture.MAX_BODY_BYTES);
            Eventually.await("the readers are disconnected", () -> impatient.connections() <= 1);
            for (RawClient client : clients) {
                client.close();
            }
        }
    }
}
