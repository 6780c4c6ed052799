package io.caravan.server.protocol.http;

import static io.caravan.server.protocol.http.HttpFixture.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.Outcome;
import io.caravan.server.protocol.http.Routes.Route;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.Eventually;
import io.caravan.testing.ForwardingListStore;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the endpoints that report the server's state, even if the store fails, and the permissions they require. */
class ServerEndpointsTest {
    private static final String TEXT = "text/plain";

    /** A store that, as the test specifies, rejects writes or reports that it has no space. */
    private static final class MoodyStore extends ForwardingListStore {
        private volatile @Nullable CaravanException rejection;
        private volatile @Nullable Runnable awaitingRoom;
        private volatile boolean full;

        MoodyStore(ListStore store) {
            super(store);
        }

        @Override
        public void write(WriteBatch batch, WriteCallback callback) {
            CaravanException problem = rejection;
            if (problem != null) {
                throw problem;
            }
            super.write(batch, callback);
        }

        @Override
        public boolean writable() {
            return !full;
        }

        @Override
        public void onWritable(Runnable action) {
            awaitingRoom = action;
        }
    }

    private static Map<String, Object> json(HttpResponse<String> response) throws Exception {
        return JsonTree.parse(response.body());
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> documents(Map<String, Object> page) {
        return (List<Map<String, Object>>) page.get("documents");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "00", "-1", "1.5", ""})
    void rejectsInvalidPageLimits(String limit) throws Exception {
        try (HttpFixture server = HttpFixture.serving()) {
            assertProblem(server.get("/v1/documents?limit=" + limit), 400, "invalid_parameter");
        }
    }

    @Test
    void listsDocumentsInPages() throws Exception {
        try (HttpFixture server = HttpFixture.serving()) {
            Set<String> created = new TreeSet<>();
            for (int i = 0; i < 50; i++) {
                String path = "/v1/stream/" + (i % 2 == 0 ? "even/" : "odd/") + i + "%20%FF";
                server.create(path, TEXT);
                created.add(path);
            }
            Set<String> listed = new TreeSet<>();
            Object cursor = "0";
            while (cursor != null) {
                Map<String, Object> page = json(server.get("/v1/documents?limit=7&cursor=" + cursor));
                assertThat(documents(page)).hasSizeLessThanOrEqualTo(7);
                documents(page)
                        .forEach(document -> assertThat(listed.add((String) document.get("path")))
                                .isTrue());
                cursor = page.get("cursor");
            }
            assertThat(listed).isEqualTo(created);
            assertThat(documents(json(server.get("/v1/documents?limit=1000&prefix=odd%2F"))))
                    .hasSize(25);
            assertThat(documents(json(server.get("/v1/documents?limit=1000&prefix=odd/1%20")))
                            .get(0))
                    .containsEntry("contentType", TEXT)
                    .containsEntry("values", 0)
                    .containsEntry("nextOffset", Offset.of(0));
            assertThat(server.get("/v1/documents?limit=x").statusCode()).isEqualTo(400);
            assertThat(server.get("/v1/documents?cursor=9223372036854775808").statusCode())
                    .isEqualTo(400);
        }
    }

    @Test
    void returnsStatisticsAndMetrics() throws Exception {
        try (HttpFixture server = HttpFixture.serving()) {
            server.create("/v1/stream/a", TEXT);
            server.append("/v1/stream/a", TEXT, "x");
            server.get("/v1/stream/b");
            Map<String, Object> stats = json(server.get("/v1/stats"));
            assertThat(stats).containsEntry("documents", 1).containsEntry("httpConnections", 1);
            assertThat(JsonTree.object(stats.get("store"))).containsKey("appends");
            assertThat(server.get("/metrics").body())
                    .contains("caravan_connections{protocol=\"http\"} 1.0")
                    .contains(
                            "caravan_requests_seconds_count{operation=\"appendToStream\",outcome=\"ok\",protocol=\"http\"}"
                                    + " 1")
                    .contains(
                            "caravan_requests_seconds_count{operation=\"readStream\",outcome=\"rejected\",protocol=\"http\"}"
                                    + " 1")
                    .contains(
                            "caravan_requests_seconds_bucket{", "caravan_store_fsyncs_total", "jvm_memory_used_bytes");
        }
    }

    @Test
    void metricsIncludeRejectionsAndReplyMemory() throws Exception {
        Authenticator authenticator = Authenticator.ofPassword("secret".getBytes(StandardCharsets.UTF_8));
        try (HttpFixture server = HttpFixture.guarded(authenticator)) {
            String[] wrong = {"Authorization", "Bearer wrong"};
            assertThat(server.status("GET", "/v1/stats", null, wrong)).isEqualTo(401);
            assertThat(server.status("GET", "/v1/stats", null, wrong)).isEqualTo(401);
            assertThat(server.send("GET", "/metrics", null, "Authorization", "Bearer secret")
                            .body())
                    .contains("caravan_auth_failures_total{reason=\"wrong\"} 2.0")
                    .contains("caravan_auth_failures_total{reason=\"limited\"} 0.0")
                    .contains("caravan_connections_rejected_total{limit=\"total\"} 0.0")
                    .contains("caravan_connections_rejected_total{limit=\"address\"} 0.0")
                    .contains("caravan_replies_closed_connections_total 0.0")
                    .contains("caravan_replies_pending_bytes ", "caravan_requests_in_flight_bytes ");
        }
    }

    @Test
    void isAliveButNotReadyBeforeStoreOpens() throws Exception {
        try (HttpFixture server = new HttpFixture()) {
            assertThat(server.get("/healthz").statusCode()).isEqualTo(200);
            assertProblem(server.get("/readyz"), 503, "recovering");
            assertThat(server.get("/v1/stream/a").statusCode()).isEqualTo(503);
            server.serve();
            assertThat(server.get("/readyz").statusCode()).isEqualTo(200);
            assertThat(server.get("/v1/stream/a").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void reportsFullStoreUntilSpaceIsAvailable() throws Exception {
        MoodyStore store = new MoodyStore(ListStore.inMemory());
        try (HttpFixture server = HttpFixture.serving(store)) {
            server.create("/v1/stream/a", TEXT);
            store.rejection = new OutOfSpaceException("the disk is full");
            HttpResponse<String> rejected = server.append("/v1/stream/a", TEXT, "x");
            assertProblem(rejected, 507, "out_of_space");
            assertThat(json(rejected)).containsEntry("detail", "the disk is full");
            assertProblem(server.get("/readyz"), 503, "out_of_space");
            assertThat(server.get("/v1/stream/a").statusCode()).isEqualTo(200);
            store.rejection = null;
            assertThat(server.append("/v1/stream/a", TEXT, "x").statusCode()).isEqualTo(204);
            assertThat(server.get("/readyz").statusCode()).isEqualTo(200);
        }
    }

    /** Appends a value without HTTP, as another protocol would, and waits for the outcome. */
    private static void push(HttpFixture server) {
        try {
            Outcome.<Long>await(outcome -> server.documents.write(
                    DocumentName.of("a"), document -> document.append(List.of(new byte[1])), outcome));
        } catch (CaravanException rejected) {
            // The test checks only the reports of the server.
        }
    }

    @Test
    void readinessReflectsFailuresOfOtherProtocols() throws Exception {
        MoodyStore store = new MoodyStore(ListStore.inMemory());
        try (HttpFixture server = HttpFixture.serving(store)) {
            store.rejection = new OutOfSpaceException("the disk is full");
            push(server);
            assertProblem(server.get("/readyz"), 503, "out_of_space");
            store.rejection = null;
            push(server);
            assertThat(server.get("/readyz").statusCode()).isEqualTo(200);
            store.rejection = new StoreFailedException("the log cannot be written", new IOException("broken disk"));
            push(server);
            store.rejection = null;
            push(server);
            assertProblem(server.get("/readyz"), 503, "store_failed");
            store.rejection = new StoreFailedException("the log cannot be written", new IOException("broken disk"));
            assertThat(json(server.send("PUT", "/v1/stream/a", null))).containsEntry("code", "store_failed");
        }
    }

    @Test
    void onlyAdminSeesStoreErrorDetails() throws Exception {
        MoodyStore store = new MoodyStore(ListStore.inMemory());
        Authenticator authenticator = Authenticator.ofPassword("secret".getBytes(StandardCharsets.UTF_8));
        try (HttpFixture server = new HttpFixture(store, authenticator, HttpFixture.LONG, HttpFixture.LONG).serve()) {
            store.rejection = new StoreFailedException("the log /srv/data/log-1", new IOException("broken disk"));
            push(server);
            for (String token : new String[] {"wrong", ""}) {
                HttpResponse<String> brief = server.send("GET", "/readyz", null, "Authorization", "Bearer " + token);
                assertProblem(brief, 503, "store_failed");
                assertThat(json(brief)).containsEntry("detail", "the store has failed; see the server's log");
            }
            HttpResponse<String> detailed = server.send("GET", "/readyz", null, "Authorization", "Bearer secret");
            assertThat((String) json(detailed).get("detail")).startsWith("the log /srv/data/log-1 ");
        }
    }

    @Test
    void writeWaitsForSpaceAndDelaysNextRequest() throws Exception {
        MoodyStore store = new MoodyStore(ListStore.inMemory());
        try (HttpFixture server = HttpFixture.serving(store);
                RawClient raw = server.raw()) {
            server.create("/v1/stream/a", TEXT);
            store.full = true;
            raw.send(RawClient.post("/v1/stream/a", "x") + RawClient.get("/v1/stream/a"));
            Eventually.await("it waits for space", () -> store.awaitingRoom != null);
            assertThat(server.get("/v1/stream/a").body()).isEmpty();
            store.full = false;
            store.awaitingRoom.run();
            assertThat(raw.read().status()).isEqualTo(204);
            assertThat(raw.read().body()).isEqualTo("x");
        }
    }

    @Test
    void requiresTokenOnProtectedRoutes() throws Exception {
        Authenticator authenticator = Authenticator.ofPassword("secret".getBytes(StandardCharsets.UTF_8));
        try (HttpFixture server = HttpFixture.guarded(authenticator)) {
            for (Route route : server.server.routes) {
                HttpResponse<String> unauthenticated =
                        server.send(route.method().name(), route.path().replaceAll("[{][a-z]+}", "a"), null);
                if (route.permission() == null) {
                    assertThat(unauthenticated.statusCode())
                            .as(route.operation())
                            .isNotIn(401, 403);
                } else {
                    assertThat(unauthenticated.statusCode())
                            .as(route.operation())
                            .isEqualTo(401);
                    assertThat(unauthenticated.headers().firstValue("WWW-Authenticate"))
                            .contains("Bearer realm=\"caravan\"");
                }
            }
            for (String wrong : List.of("Bearer wrong", "Bearer", "Basic c2VjcmV0", "secret")) {
                assertThat(server.status("GET", "/v1/stats", null, "Authorization", wrong))
                        .as(wrong)
                        .isEqualTo(401);
            }
            assertThat(server.status("GET", "/v1/stats", null, "Authorization", "bearer secret"))
                    .isEqualTo(200);
        }
    }
}
