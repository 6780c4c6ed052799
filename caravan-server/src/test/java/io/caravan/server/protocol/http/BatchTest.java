package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.app.DelayedStore;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.TestUsers;
import io.caravan.testing.Eventually;
import io.caravan.testing.ForwardingListStore;
import java.net.http.HttpResponse;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests atomic writes to several streams, and requests for checkpoints. */
class BatchTest {
    private static final String FIRST = "0000000000000000_0000000000000000";
    private static final String SECOND = "0000000000000001_0000000000000000";
    private static final String THIRD = "0000000000000002_0000000000000000";

    private final CompletableFuture<Void> checkpointed = new CompletableFuture<>();
    private DelayedStore store;
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        serve(Authenticator.open());
        server.create("/v1/stream/a", "text/plain");
        server.create("/v1/stream/b", "text/plain");
        server.create("/v1/stream/json", "application/json");
    }

    private void serve(Authenticator authenticator) throws Exception {
        store = new DelayedStore(new ForwardingListStore(ListStore.inMemory()) {
            @Override
            public void checkpoint() {
                checkpointed.join();
            }
        });
        server = new HttpFixture(store, authenticator, HttpFixture.LONG, HttpFixture.LONG);
        server.serve();
    }

    @AfterEach
    void stop() {
        checkpointed.complete(null);
        store.release();
        server.close();
    }

    private HttpResponse<String> batch(String... changes) throws Exception {
        return server.send("POST", "/v1/batch", "{\"operations\":[" + String.join(",", changes) + "]}");
    }

    private static String append(String path, String value, String... more) {
        return "{\"path\":\"/v1/stream/" + path + "\",\"append\":[\"" + value + "\"]" + String.join("", more) + "}";
    }

    private void assertRejected(int status, String code, String detail, String... changes) throws Exception {
        HttpResponse<String> response = batch(changes);
        HttpFixture.assertProblem(response, status, code);
        assertThat((String) JsonTree.parse(response.body()).get("detail")).contains(detail);
        assertThat(body("a")).isEmpty();
        assertThat(body("b")).isEmpty();
    }

    private String body(String path) throws Exception {
        return server.get("/v1/stream/" + path + "?offset=-1").body();
    }

    @Test
    void batchIsOneWriteAndRespondsWhenDurable() throws Exception {
        int before = store.accepted();
        HttpResponse<String> response = batch(
                append("a", "one\\u00e9", ",\"ifOffset\":\"" + FIRST + "\""),
                "{\"path\":\"/v1/stream/a\",\"append\":[\"dHdv\",\"\"],\"base64\":true,\"ifOffset\":\"" + SECOND
                        + "\"}",
                append("json", "{\\\"x\\\":1}"),
                "{\"path\":\"/v1/stream/a\",\"trim\":\"" + SECOND + "\"}",
                "{\"path\":\"/v1/stream/b\",\"delete\":true}");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(store.accepted()).isEqualTo(before + 1);
        assertThat(response.body())
                .startsWith("{\"operations\":[{\"path\":\"/v1/stream/a\",\"firstOffset\":\"" + FIRST
                        + "\",\"nextOffset\":\"" + SECOND + "\"},")
                .endsWith("{\"path\":\"/v1/stream/b\",\"deleted\":true}]}")
                .contains("{\"path\":\"/v1/stream/json\",\"firstOffset\":\"" + FIRST + "\",\"nextOffset\":\"" + SECOND);
        assertThat(body("a")).isEqualTo("two");
        assertThat(body("json")).isEqualTo("[{\"x\":1}]");
        assertThat(server.get("/v1/stream/b?offset=-1").statusCode()).isEqualTo(404);

        store.hold();
        int accepted = store.accepted();
        CompletableFuture<HttpResponse<String>> pending =
                server.postAsync("/v1/batch", "{\"operations\":[" + append("a", "held") + "]}");
        store.awaitAccepted(accepted + 1);
        assertThat(server.get("/healthz").statusCode()).isEqualTo(200);
        assertThat(pending).isNotDone();
        store.release();
        assertThat(pending.join().statusCode()).isEqualTo(200);
    }

    @Test
    void rejectedOperationRejectsBatch() throws Exception {
        String third = append("b", "x", ",\"ifOffset\":\"" + THIRD + "\"");
        assertThat(HttpFixture.header(batch(append("a", "x"), third), "Stream-Next-Offset"))
                .isEqualTo(FIRST);
        String why = "nothing was written, because of operation 2: document 'b'";
        assertRejected(409, "sequence_conflict", why, append("a", "x"), third);
        assertRejected(404, "not_found", "operation 2", append("a", "x"), append("missing", "x"));
        assertRejected(404, "not_found", "operation 3", append("a", "x"), append("b", "x"), delete("missing"));
        assertRejected(400, "not_json", "operation 2", append("a", "x"), append("json", "no"));
        assertRejected(400, "not_json", "operation 2", append("a", "x"), append("json", "no" + "n".repeat(20_000)));
        assertRejected(400, "offset_out_of_range", "operation 2", append("a", "x"), trim("a", THIRD));
        assertRejected(404, "not_found", "operation 2", delete("a"), append("a", "x"));
        server.send("POST", "/v1/stream/json", null, "Stream-Closed", "true");
        assertRejected(409, "closed", "operation 2", append("a", "x"), append("json", "1"));
    }

    private static String delete(String path) {
        return "{\"path\":\"/v1/stream/" + path + "\",\"delete\":true}";
    }

    private static String trim(String path, String to) {
        return "{\"path\":\"/v1/stream/" + path + "\",\"trim\":\"" + to + "\"}";
    }

    @Test
    void acceptsLongJsonValues() throws Exception {
        String text = "\\\"" + "j".repeat(30_000) + "\\\"";
        HttpResponse<String> response = batch(append("json", text), append("a", "x"));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(body("json")).hasSize(30_004);
    }

    @Test
    void rejectsMalformedBatches() throws Exception {
        String good = append("a", "x");
        for (String wrong : List.of(
                "{\"path\":\"/v1/stream/b\"}",
                "{\"append\":[\"x\"]}",
                "{\"path\":\"b\",\"append\":[\"x\"]}",
                "{\"path\":\"/v1/stream/b\",\"append\":[]}",
                "{\"path\":\"/v1/stream/b\",\"append\":\"x\"}",
                "{\"path\":\"/v1/stream/b\",\"append\":[1]}",
                "{\"path\":\"/v1/stream/b\",\"append\":[\"x\"],\"delete\":true}",
                "{\"path\":\"/v1/stream/b\",\"delete\":false}",
                "{\"path\":\"/v1/stream/b\",\"delete\":true,\"ifOffset\":\"" + FIRST + "\"}",
                "{\"path\":\"/v1/stream/b\",\"append\":[\"?\"],\"base64\":true}",
                "{\"path\":\"/v1/stream/b\",\"append\":[\"\\ud800\"]}",
                "{\"path\":\"/v1/stream/b\",\"append\":[\"x\"],\"append\":[\"y\"]}",
                "{\"path\":\"/v1/stream/b\",\"append\":[\"x\"],\"ifSequence\":1}",
                "{\"path\":\"/v1/stream/b\",\"append\":[\"x\"],\"ifOffset\":null}",
                "{\"path\":\"/v1/stream/b\",\"append\":[null]}",
                "{\"path\":\"/v1/stream/b\",\"append\":null,\"delete\":true}",
                "[]",
                "7")) {
            assertRejected(400, "invalid_batch", "", good, wrong);
        }
        assertRejected(400, "invalid_batch", "operations must have at least one element");
        assertRejected(400, "invalid_offset", "operation 2: ifOffset", good, append("b", "x", ",\"ifOffset\":\"1\""));
        assertRejected(501, "reserved", "", good, append("__ds/x", "x"));
        assertRejected(400, "invalid_batch", "names of at most 128", good, "{\"" + "n".repeat(1_000) + "\": 1}");
        for (String wrong : List.of(
                "",
                "x",
                "[]",
                "{}",
                "{\"operations\":[]}",
                "{\"operations\":[" + good,
                "{\"operations\":[" + good + "],\"more\":1}",
                "{\"operations\":[" + good + "]} 1")) {
            assertThat(server.status("POST", "/v1/batch", wrong)).as(wrong).isEqualTo(400);
        }
        assertThat(body("a")).isEmpty();
    }

    @Test
    void rejectsBatchesBeyondLimits() throws Exception {
        String many = IntStream.range(0, 1_001).mapToObj(i -> append("a", "x")).collect(Collectors.joining(","));
        assertRejected(413, "too_many_operations", "at most 1000", many);
        String values = Base64.getEncoder().encodeToString(new byte[1]);
        String tooMany = IntStream.range(0, HttpFixture.MAX_BATCH_BYTES / 48 + 1)
                .mapToObj(i -> "\"" + values + "\"")
                .collect(Collectors.joining(","));
        String change = "{\"path\":\"/v1/stream/a\",\"base64\":true,\"append\":[" + tooMany + "]}";
        assertRejected(413, "too_many_messages", "values of a batch", change);
        assertThat(server.status("POST", "/v1/batch", " ".repeat(HttpFixture.MAX_BODY_BYTES + 1)))
                .isEqualTo(413);
    }

    @Test
    void checksPermissionsOfBatchesAndCheckpoints() throws Exception {
        stop();
        TestUsers users = new TestUsers("""
                editor.secret = writes-some-of-them
                editor.permissions = read, write
                editor.prefixes = mine/
                reader.secret = reads-and-reads
                reader.permissions = read
                admin.secret = administers
                admin.permissions = admin
                """);
        serve(users.authenticator);
        String[] editor = {"Authorization", "Bearer writes-some-of-them"};
        String[] reader = {"Authorization", "Bearer reads-and-reads"};
        String[] admin = {"Authorization", "Bearer administers"};
        String[] typed = {"Authorization", "Bearer writes-some-of-them", "Content-Type", "text/plain"};
        server.send("PUT", "/v1/stream/mine/a", null, typed);
        String both = "{\"operations\":[" + append("mine/a", "x") + "," + append("theirs/a", "x") + "]}";
        assertThat(server.status("POST", "/v1/batch", both, editor)).isEqualTo(403);
        HttpResponse<String> unchanged = server.send("GET", "/v1/stream/mine/a?offset=-1", null, editor);
        assertThat(unchanged.body()).isEmpty();
        String own = "{\"operations\":[" + append("mine/a", "x") + "]}";
        assertThat(server.status("POST", "/v1/batch", own, editor)).isEqualTo(200);
        assertThat(server.status("POST", "/v1/batch", own, reader)).isEqualTo(403);
        assertThat(server.status("POST", "/v1/batch", own)).isEqualTo(401);
        checkpointed.complete(null);
        assertThat(server.status("POST", "/v1/checkpoint", null, editor)).isEqualTo(403);
        assertThat(server.status("POST", "/v1/checkpoint", null, admin)).isEqualTo(204);
    }

    @Test
    void checkpointRespondsWhenComplete() throws Exception {
        CompletableFuture<HttpResponse<String>> response = server.sendAsync("POST", "/v1/checkpoint");
        Eventually.await("the response waits", () -> checkpointed.getNumberOfDependents() > 0);
        assertThat(server.get("/healthz").statusCode()).isEqualTo(200);
        assertThat(response).isNotDone();
        checkpointed.complete(null);
        assertThat(Objects.requireNonNull(response.join()).statusCode()).isEqualTo(204);
    }
}
