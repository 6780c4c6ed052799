package io.caravan.server.protocol.http;

import static io.caravan.server.protocol.http.HttpFixture.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests requests with conditional headers, repeated headers, or invalid characters in the path. */
class RequestRulesTest {
    private static final String TEXT = "text/plain";
    private static final String PATH = "/v1/stream/a";

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
        server.create(PATH, TEXT);
        server.append(PATH, TEXT, "value");
    }

    @ParameterizedTest
    @CsvSource({
        "DELETE, /v1/stream/a, If-Match, '\"none\"'",
        "DELETE, /v1/stream/a, If-Match, *",
        "DELETE, /v1/stream/a, If-Unmodified-Since, 'Sun, 06 Nov 1994 08:49:37 GMT'",
        "DELETE, /v1/stream/a, If-None-Match, *",
        "POST, /v1/stream/a, If-Match, '\"none\"'",
        "POST, /v1/stream/a, If-None-Match, '\"none\"'",
        "POST, /v1/stream/a?trim=now, If-Match, '\"none\"'",
        "PUT, /v1/stream/new, If-Match, '\"none\"'",
        "PUT, /v1/stream/new, If-None-Match, '\"none\"'",
        "PUT, /v1/spaces/new, If-None-Match, *"
    })
    void rejectsWritesWithUnsupportedConditions(String method, String path, String header, String value)
            throws Exception {
        HttpResponse<String> rejected = server.send(method, path, "{}", "Content-Type", TEXT, header, value);
        assertProblem(rejected, 412, "condition_unsupported");
        assertThat(server.get(PATH).body()).isEqualTo("value");
        assertThat(server.get("/v1/stream/new").statusCode()).isEqualTo(404);
    }

    @Test
    void ifNoneMatchCreatesOnlyNewStream() throws Exception {
        String[] headers = {"Content-Type", TEXT, "If-None-Match", "*"};
        assertProblem(server.send("PUT", PATH, null, headers), 412, "condition_failed");
        assertThat(server.status("PUT", "/v1/stream/new", null, headers)).isEqualTo(201);
        assertThat(server.status("PUT", "/v1/stream/new", null, headers)).isEqualTo(412);
        assertThat(server.status("PUT", "/v1/stream/new", null, "Content-Type", TEXT))
                .isEqualTo(200);
    }

    @Test
    void acceptsEtagsInSeveralHeaders() throws Exception {
        String tag = server.get(PATH).headers().firstValue("ETag").orElseThrow();
        HttpResponse<String> known =
                server.send("GET", PATH, null, "If-None-Match", "\"other\", \"x\"", "If-None-Match", tag);
        assertThat(known.statusCode()).isEqualTo(304);
        HttpResponse<String> unknown = server.send("GET", PATH, null, "If-None-Match", "\"other\"");
        assertThat(unknown.statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource({
        "Stream-If-Offset, 0000000000000001_0000000000000000, 0000000000000009_0000000000000000",
        "Stream-Seq, 1, 2",
        "Stream-Closed, false, true",
        "Producer-Epoch, 0, 1",
        "Content-Type, text/plain, text/plain"
    })
    void rejectsRepeatedHeaders(String header, String one, String other) throws Exception {
        String type = header.equals("Content-Type") ? "" : "Content-Type: text/plain\r\n";
        RawClient.Response rejected = server.ask("POST " + PATH + " HTTP/1.1\r\nHost: localhost\r\n" + type + header
                + ": " + one + "\r\n" + header + ": " + other + "\r\nContent-Length: 1\r\n\r\nx");
        assertThat(rejected.status()).isEqualTo(400);
        assertThat(rejected.body()).contains("invalid_header");
        assertThat(server.get(PATH).body()).isEqualTo("value");
    }

    @Test
    void rejectsRepeatedAuthorizationHeader() throws Exception {
        String request = "GET " + PATH + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a\r\n"
                + "Authorization: Bearer b\r\n\r\n";
        assertThat(server.ask(request).body()).contains("malformed_request");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a#b", "#", "x\\..\\a", "a\\"})
    void rejectsFragmentsAndBackslashesInPaths(String rest) throws Exception {
        String request = "DELETE /v1/stream/" + rest + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
        assertThat(server.ask(request).body()).contains("malformed_url", "%23", "%5C");
        assertThat(server.get("/v1/stream/a%23b%5C").statusCode()).isEqualTo(404);
    }

    @Test
    void http10ClientGetsNoInterimResponse() throws Exception {
        String request = "POST " + PATH + " HTTP/1.0\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
                + "Expect: 100-continue\r\n\r\nx";
        assertThat(server.ask(request).status()).isEqualTo(204);
    }
}
