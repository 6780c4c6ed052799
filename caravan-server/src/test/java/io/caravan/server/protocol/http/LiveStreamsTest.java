package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.server.security.TestUsers;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests live reads of many streams over one connection. */
class LiveStreamsTest {
    private static final String TEXT = "text/plain";
    private static final ObjectMapper JSON = new ObjectMapper();

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
        server.create("/v1/stream/a", TEXT);
        server.create("/v1/stream/b", TEXT);
    }

    /** Returns a request body that names these streams. The arguments alternate between paths and offsets. */
    private static String streams(String... pathsAndOffsets) {
        return IntStream.range(0, pathsAndOffsets.length / 2)
                .mapToObj(i -> "{\"path\": \"" + pathsAndOffsets[2 * i] + "\", \"offset\": \""
                        + pathsAndOffsets[2 * i + 1] + "\"}")
                .collect(Collectors.joining(",", "{\"streams\": [", "]}"));
    }

    private HttpResponse<String> follow(String body) throws Exception {
        return server.send("POST", "/v1/live", body);
    }

    /** Reads the events of a streamed response as they arrive. */
    private static final class Events implements AutoCloseable {
        private final Stream<String> stream;
        private final Iterator<String> lines;

        Events(HttpFixture server, String body) throws Exception {
            stream = server.postForLines("/v1/live", body);
            lines = stream.iterator();
        }

        /** Returns the data of the next event. The event must be of this kind. */
        JsonNode next(String kind) throws IOException {
            assertThat(lines.next()).isEqualTo("event: " + kind);
            String data = lines.next();
            assertThat(data).startsWith("data: ");
            assertThat(lines.next()).isEmpty();
            return JSON.readTree(data.substring("data: ".length()));
        }

        boolean more() {
            return lines.hasNext();
        }

        @Override
        public void close() {
            stream.close();
        }
    }

    private static List<String> values(JsonNode event) {
        List<String> values = new ArrayList<>();
        event.get("values").forEach(value -> values.add(value.asText()));
        return values;
    }

    private void close(String path) throws Exception {
        server.send("POST", path, null, "Stream-Closed", "true");
    }

    @Test
    void sendsValuesOfAllStreamsOnAppend() throws Exception {
        server.append("/v1/stream/a", TEXT, "one");
        server.append("/v1/stream/a", TEXT, "two");
        server.append("/v1/stream/b", TEXT, "before");
        try (Events events = new Events(server, streams("/v1/stream/a", "-1", "/v1/stream/b", "now"))) {
            JsonNode a = events.next("data");
            assertThat(a.get("path").asText()).isEqualTo("/v1/stream/a");
            assertThat(values(a)).containsExactly("one", "two");
            assertThat(a.get("nextOffset").asText()).isEqualTo(Offset.of(2));
            assertThat(a.get("upToDate").asBoolean()).isTrue();
            JsonNode b = events.next("data");
            assertThat(b.get("path").asText()).isEqualTo("/v1/stream/b");
            assertThat(values(b)).isEmpty();
            assertThat(b.get("nextOffset").asText()).isEqualTo(Offset.of(1));
            for (int i = 0; i < 20; i++) {
                String path = i % 3 == 0 ? "/v1/stream/a" : "/v1/stream/b";
                server.append(path, TEXT, "value " + i);
                JsonNode event = events.next("data");
                assertThat(event.get("path").asText()).isEqualTo(path);
                assertThat(values(event)).containsExactly("value " + i);
            }
        }
        server.awaitTailedDocuments(0);
    }

    @Test
    void deliversEachValueOnceDuringConcurrentWrites() throws Exception {
        int count = 200;
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add("/v1/stream/many/" + i);
            server.create(names.get(i), TEXT);
        }
        String[] all = names.stream().flatMap(name -> Stream.of(name, "-1")).toArray(String[]::new);
        try (Events events = new Events(server, streams(all))) {
            Thread writer = new Thread(() -> names.forEach(name -> {
                try {
                    for (int i = 0; i < 5; i++) {
                        server.append(name, TEXT, "v" + i);
                    }
                    close(name);
                } catch (Exception failed) {
                    throw new IllegalStateException(failed);
                }
            }));
            writer.start();
            Map<String, List<String>> got = new HashMap<>();
            Map<String, Integer> closed = new HashMap<>();
            while (events.more()) {
                JsonNode event = events.next("data");
                String path = event.get("path").asText();
                got.computeIfAbsent(path, any -> new ArrayList<>()).addAll(values(event));
                if (event.path("closed").asBoolean()) {
                    closed.merge(path, 1, Integer::sum);
                }
            }
            writer.join();
            assertThat(got)
                    .hasSize(count)
                    .allSatisfy((name, values) -> assertThat(values).containsExactly("v0", "v1", "v2", "v3", "v4"));
            assertThat(closed)
                    .hasSize(count)
                    .allSatisfy((name, times) -> assertThat(times).isEqualTo(1));
        }
        server.awaitTailedDocuments(0);
    }

    @Test
    void interleavesLongStreamWithOthers() throws Exception {
        String value = "x".repeat(HttpFixture.MAX_BODY_BYTES / 2);
        for (int i = 0; i < 20; i++) {
            server.append("/v1/stream/a", TEXT, value);
        }
        server.append("/v1/stream/b", TEXT, "short");
        close("/v1/stream/a");
        close("/v1/stream/b");
        try (Events events = new Events(server, streams("/v1/stream/a", "-1", "/v1/stream/b", "-1"))) {
            List<String> order = new ArrayList<>();
            int count = 0;
            while (events.more()) {
                JsonNode event = events.next("data");
                order.add(event.get("path").asText());
                if (event.get("path").asText().equals("/v1/stream/a")) {
                    assertThat(event.has("upToDate")).isEqualTo(event.has("closed"));
                    count += event.get("values").size();
                }
            }
            assertThat(count).isEqualTo(20);
            assertThat(order.subList(0, 2)).containsExactly("/v1/stream/a", "/v1/stream/b");
            assertThat(order).hasSize(11);
        }
    }

    @Test
    void reportsFailedStreamsAndContinuesOthers() throws Exception {
        server.append("/v1/stream/b", TEXT, "one");
        server.send("POST", "/v1/stream/b?trim=now", null);
        try (Events events = new Events(
                server, streams("/v1/stream/none", "-1", "/v1/stream/b", Offset.of(0), "/v1/stream/a", "-1"))) {
            JsonNode missing = events.next("problem");
            assertThat(missing.get("path").asText()).isEqualTo("/v1/stream/none");
            assertThat(missing.get("status").asInt()).isEqualTo(404);
            assertThat(missing.get("code").asText()).isEqualTo("not_found");
            JsonNode trimmed = events.next("problem");
            assertThat(trimmed.get("path").asText()).isEqualTo("/v1/stream/b");
            assertThat(trimmed.get("code").asText()).isEqualTo("offset_trimmed");
            assertThat(values(events.next("data"))).isEmpty();
            server.append("/v1/stream/a", TEXT, "still");
            assertThat(values(events.next("data"))).containsExactly("still");
            server.send("DELETE", "/v1/stream/a", null);
            assertThat(events.next("problem").get("code").asText()).isEqualTo("not_found");
            assertThat(events.more()).isFalse();
        }
    }

    @Test
    void encodesBinaryValuesInBase64() throws Exception {
        server.create("/v1/stream/bytes", "application/x-bytes");
        server.append("/v1/stream/bytes", "application/x-bytes", "a");
        server.create("/v1/stream/json", "application/json");
        server.append("/v1/stream/json", "application/json", "[{\"x\": \"\\n\"}, 7]");
        try (Events events = new Events(server, streams("/v1/stream/bytes", "-1", "/v1/stream/json", "-1"))) {
            JsonNode bytes = events.next("data");
            assertThat(bytes.get("base64").asBoolean()).isTrue();
            assertThat(values(bytes))
                    .containsExactly(Base64.getEncoder().encodeToString("a".getBytes(StandardCharsets.US_ASCII)));
            JsonNode json = events.next("data");
            assertThat(json.has("base64")).isFalse();
            assertThat(values(json)).containsExactly("{\"x\": \"\\n\"}", "7");
        }
    }

    @Test
    void endsAfterTimeout() throws Exception {
        try (HttpFixture impatient = HttpFixture.impatient()) {
            impatient.create("/v1/stream/a", TEXT);
            HttpResponse<String> response = impatient.send("POST", "/v1/live", streams("/v1/stream/a", "-1"));
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("Content-Type")).hasValue("text/event-stream");
            assertThat(response.body()).contains("upToDate").doesNotContain("closed");
            impatient.awaitTailedDocuments(0);
        }
    }

    @Test
    void rejectsMalformedRequests() throws Exception {
        String one = "{\"path\": \"/v1/stream/a\", \"offset\": \"now\"}";
        for (String body : List.of(
                "",
                "[]",
                "{\"streams\": []}",
                "{\"streams\": [" + one + "]} {}",
                "{\"streams\": [" + one + "," + one + "]}",
                "{\"streams\": [{\"path\": \"/v1/stream/a\"}]}",
                "{\"streams\": [{\"path\": \"a\", \"offset\": \"now\"}]}",
                "{\"streams\": [{\"path\": \"/v1/stream/a\", \"offset\": \"now\", \"from\": 1}]}")) {
            HttpResponse<String> rejected = follow(body);
            assertThat(rejected.statusCode()).as(body).isEqualTo(400);
            assertThat(rejected.body()).as(body).contains("invalid_streams");
        }
        String many = IntStream.rangeClosed(0, 1_000)
                .mapToObj(i -> "{\"path\": \"/v1/stream/" + i + "\", \"offset\": \"now\"}")
                .collect(Collectors.joining(",", "{\"streams\": [", "]}"));
        assertThat(follow(many).statusCode()).isEqualTo(413);
        assertThat(follow(streams("/v1/stream/a", "7")).body()).contains("invalid_offset");
    }

    @Test
    void requiresPermissionForEveryStream() throws Exception {
        TestUsers users = new TestUsers("""
                ada.secret = a-long-secret-of-ada
                ada.permissions = read
                ada.prefixes = ada/
                """);
        String body = streams("/v1/stream/ada/1", "now", "/v1/stream/eve/1", "now");
        String[] ada = {"Authorization", "Bearer a-long-secret-of-ada"};
        try (HttpFixture closed = HttpFixture.guarded(users.authenticator)) {
            assertThat(closed.status("POST", "/v1/live", body, ada)).isEqualTo(403);
        }
    }

    /** The limit on followed streams must also cover missing ones. One existing stream keeps the request open. */
    @Test
    void limitsFollowedStreamsUntilConnectionsClose() throws Exception {
        String body =
                streams(Stream.concat(Stream.of("a"), IntStream.range(1, 1_000).mapToObj(Integer::toString))
                        .flatMap(name -> Stream.of("/v1/stream/" + name, "-1"))
                        .toArray(String[]::new));
        String request =
                "POST /v1/live HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
        int others = server.connections();
        List<RawClient> following = new ArrayList<>();
        try {
            RawClient.Response head = null;
            while (following.size() < 1_000 && (head == null || head.status() != 503)) {
                RawClient client = server.raw();
                following.add(client);
                client.send(request);
                head = client.head();
            }
            assertThat(head.status()).isEqualTo(503);
            assertThat(head.headers()).containsEntry("retry-after", "1");
            assertThat(following).hasSizeGreaterThan(4);
        } finally {
            for (RawClient client : following) {
                client.close();
            }
        }
        Eventually.await("the connections have ended", () -> server.connections() <= others);
        try (RawClient client = server.raw()) {
            client.send(request);
            assertThat(client.line()).contains(" 200 ");
        }
    }
}
