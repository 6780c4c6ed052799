package io.caravan.server.protocol.http;

import static io.caravan.server.protocol.http.HttpFixture.header;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.catalog.DocumentName;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the response headers for browsers, caches, and proxies, and the accepted encodings of a request body. */
class ResponseTest {
    private static final String TEXT = "text/plain";
    private static final String POLICY = "Content-Security-Policy";
    /** Headers that pages may always read according to the Fetch standard, and headers about the connection. */
    private static final Set<String> ALWAYS_EXPOSED =
            Set.of("cache-control", "content-type", "content-length", "content-security-policy");

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?offset=-1&live=long-poll", "?offset=now"})
    void sandboxesDocumentContent(String query) throws Exception {
        server.create("/v1/stream/page", "text/html");
        server.append("/v1/stream/page", "text/html", "<script>fetch('/v1/documents')</script>");
        HttpResponse<String> page = server.get("/v1/stream/page" + query);
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(header(page, "Content-Type")).isEqualTo("text/html");
        assertThat(header(page, POLICY)).contains("default-src 'none'").contains("sandbox");
        assertThat(header(page, POLICY)).doesNotContain("allow-");
        assertThat(header(page, "X-Content-Type-Options")).isEqualTo("nosniff");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/values/page?raw=true",
                "/v1/values/page",
                "/v1/stream/none",
                "/v1/documents",
                "/nothing<script>"
            })
    void sandboxesOtherResponses(String path) throws Exception {
        server.create("/v1/stream/page", "text/html");
        server.append("/v1/stream/page", "text/html", "<script>");
        RawClient.Response response = server.ask(RawClient.get(path));
        assertThat(response.headers().get("content-security-policy")).contains("sandbox");
        assertThat(response.headers()).containsEntry("x-content-type-options", "nosniff");
    }

    @Test
    void everyResponseHasDate() throws Exception {
        Instant before = Instant.ofEpochSecond(Instant.now().getEpochSecond());
        for (HttpResponse<String> response : Set.of(
                server.get("/healthz"),
                server.get("/v1/stream/none"),
                server.send("PUT", "/v1/stream/a", null, "Content-Type", TEXT),
                server.append("/v1/stream/a", TEXT, "value"),
                server.send("OPTIONS", "/v1/stream/a", null),
                server.send("HEAD", "/v1/stream/a", null),
                server.get("/v1/stream/a"))) {
            assertThat(response.headers().allValues("Date")).hasSize(1);
            Instant date = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(header(response, "Date")));
            assertThat(date).isBetween(before, Instant.now());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /v1/stream/a, gzip",
        "POST, /v1/stream/a, 'identity, br'",
        "POST, /v1/stream/a, GZIP",
        "PUT, /v1/stream/new, deflate",
        "POST, /v1/batch, gzip",
        "POST, /v1/live, zstd",
        "PUT, /v1/spaces/a, gzip"
    })
    void rejectsCompressedBodies(String method, String path, String encoding) throws Exception {
        server.create("/v1/stream/a", TEXT);
        HttpResponse<String> rejected =
                server.send(method, path, "\u001f\u0008 bytes", "Content-Type", TEXT, "Content-Encoding", encoding);
        HttpFixture.assertProblem(rejected, 415, "unsupported_content_encoding");
        assertThat(header(rejected, "Accept-Encoding")).isEqualTo("identity");
        assertThat(server.get("/v1/stream/a").body()).isEmpty();
        assertThat(server.documents.find(DocumentName.of("new"))).isNull();
    }

    @Test
    void acceptsIdentityContentEncoding() throws Exception {
        server.create("/v1/stream/a", TEXT);
        String[] headers = {"Content-Type", TEXT, "Content-Encoding", "identity"};
        assertThat(server.status("POST", "/v1/stream/a", "value", headers)).isEqualTo(204);
    }

    @Test
    void locationIsAbsoluteForDirectClients() throws Exception {
        HttpResponse<String> made = server.send("PUT", "/v1/stream/a/b", null, "Content-Type", TEXT);
        assertThat(header(made, "Location"))
                .isEqualTo(server.uri("/v1/stream/a/b").toString());
    }

    @ParameterizedTest
    @CsvSource({
        "X-Forwarded-Proto, a/b",
        "X-Forwarded-For, a/b/",
        "X-Forwarded-Host, scheme:b",
        "Forwarded, a%2Fb",
        "Via, __name/~2E~2E"
    })
    void locationIsRelativeBehindProxy(String header, String path) throws Exception {
        HttpResponse<String> made =
                server.send("PUT", "/v1/stream/" + path, null, "Content-Type", TEXT, header, "https");
        assertThat(made.statusCode()).isEqualTo(201);
        URI outside = URI.create("https://public.example/below/v1/stream/" + path);
        assertThat(header(made, "Location")).startsWith("./");
        assertThat(outside.resolve(header(made, "Location"))).isEqualTo(outside);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void eventStreamIsUnbufferedAndSendsHeartbeats(boolean many) throws Exception {
        try (HttpFixture beating = HttpFixture.beating(Duration.ofMillis(20));
                RawClient client = beating.raw()) {
            beating.create("/v1/stream/a", TEXT);
            String body = many ? "{\"streams\": [{\"path\": \"/v1/stream/a\", \"offset\": \"now\"}]}" : "";
            String target = many ? "POST /v1/live" : "GET /v1/stream/a?live=sse&offset=now";
            client.send(
                    target + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + body.length() + "\r\n\r\n" + body);
            assertThat(client.head().headers())
                    .containsEntry("x-accel-buffering", "no")
                    .containsEntry("content-type", "text/event-stream");
            for (int comments = 0; comments < 3; ) {
                String chunk = client.chunk();
                assertThat(chunk).isNotEmpty();
                comments += chunk.equals(":\n\n") ? 1 : 0;
            }
            // Waits for an event, which must be complete although comments are sent between events.
            beating.append("/v1/stream/a", TEXT, "value");
            String chunk = client.chunk();
            while (chunk.equals(":\n\n")) {
                chunk = client.chunk();
            }
            assertThat(chunk).startsWith("event: data\n").endsWith("\n\n").contains("value");
        }
    }

    /** Pages from other origins must have access to all headers that the OpenAPI description names. */
    @Test
    void crossOriginPagesCanUseAllHeaders() throws Exception {
        JsonNode description =
                new ObjectMapper().readTree(server.get("/openapi.json").body());
        HttpResponse<String> preflight = server.send("OPTIONS", "/v1/stream/a", null, "Origin", "http://localhost:1");
        Set<String> exposed = words(header(preflight, "Access-Control-Expose-Headers"));
        exposed.addAll(ALWAYS_EXPOSED);
        Set<String> responses = new TreeSet<>();
        description
                .findValues("headers")
                .forEach(headers ->
                        headers.fieldNames().forEachRemaining(name -> responses.add(name.toLowerCase(Locale.ROOT))));
        assertThat(responses).contains("retry-after", "stream-next-offset", "accept-encoding");
        assertThat(exposed).containsAll(responses).contains("date", "allow");

        Set<String> allowed = words(header(preflight, "Access-Control-Allow-Headers"));
        Set<String> requests = new TreeSet<>();
        description.findParents("in").stream()
                .filter(parameter -> parameter.get("in").asText().equals("header"))
                .forEach(
                        parameter -> requests.add(parameter.get("name").asText().toLowerCase(Locale.ROOT)));
        assertThat(requests).contains("stream-if-offset");
        assertThat(allowed).containsAll(requests).contains("authorization", "content-type");
    }

    private static Set<String> words(String header) {
        return new TreeSet<>(Set.of(header.toLowerCase(Locale.ROOT).split(", *")));
    }
}
