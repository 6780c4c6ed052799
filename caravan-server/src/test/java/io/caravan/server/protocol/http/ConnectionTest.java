package io.caravan.server.protocol.http;

import static io.caravan.server.protocol.http.RawClient.get;
import static io.caravan.server.protocol.http.RawClient.post;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.SocketException;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests HTTP connections at the byte level: the order of responses, partial requests, and malformed requests. */
class ConnectionTest {
    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        server = HttpFixture.serving();
        server.create("/v1/stream/a", "text/plain");
    }

    @Test
    void respondsToPipelinedRequestsInOrder() throws Exception {
        try (RawClient raw = server.raw()) {
            StringBuilder ahead = new StringBuilder();
            for (int i = 0; i < 200; i++) {
                ahead.append(post("/v1/stream/a", i + ",")).append(get("/v1/stream/a?offset=" + Offset.of(i)));
            }
            raw.send(ahead.toString());
            for (int i = 0; i < 200; i++) {
                assertThat(raw.read().headers()).containsEntry("stream-next-offset", Offset.of(i + 1));
                assertThat(raw.read().body()).isEqualTo(i + ",");
            }
        }
    }

    @Test
    void requestAfterLongPollWaitsForIt() throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send(get("/v1/stream/a?offset=-1&live=long-poll") + get("/healthz"));
            server.awaitTailedDocuments(1);
            server.append("/v1/stream/a", "text/plain", "late");
            assertThat(raw.read().body()).isEqualTo("late");
            assertThat(raw.read().body()).contains("alive");
        }
    }

    @Test
    void parsesRequestSentByteByByte() throws Exception {
        try (RawClient raw = server.raw()) {
            String request = "POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
            for (char c : request.toCharArray()) {
                raw.send(String.valueOf(c));
            }
            assertThat(raw.read().status()).isEqualTo(204);
        }
        assertThat(server.get("/v1/stream/a").body()).isEqualTo("abcde");
    }

    @Test
    void rejectsChunkedBodyBeyondLimit() throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send("POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n");
            String chunk = "1000\r\n" + "x".repeat(0x1000) + "\r\n";
            raw.send(chunk.repeat(HttpFixture.MAX_BODY_BYTES / 0x1000));
            raw.send("1\r\nx\r\n");
            assertThat(raw.read().status()).isEqualTo(413);
            assertThat(raw.atEnd()).isTrue();
        }
        assertThat(server.get("/v1/stream/a").body()).isEmpty();
    }

    @Test
    void supportsExpectContinue() throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send(
                    "POST /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
                            + "Expect: 100-continue\r\n\r\n");
            assertThat(raw.read().status()).isEqualTo(100);
            raw.send("abc");
            assertThat(raw.read().status()).isEqualTo(204);
        }
    }

    /** A request without a definite end must end its connection, because the next bytes may be from another client. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Length: 3|Transfer-Encoding: chunked||0||",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Transfer-Encoding: chunked|Content-Length: 3||0||",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Length: 3|Content-Length: 4||abcd",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Length: 3, 4||abcd",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Length: -1||",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Length: +3||abc",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Length: 3x||abc",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Length: 99999999999999999999||",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Transfer-Encoding: chunked, identity||0||",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Transfer-Encoding: xchunked||0||",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Type: text/plain|Transfer-Encoding:"
                        + " chunked||g|abc|0||",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Type: text/plain|Transfer-Encoding:"
                        + " chunked||-1|abc|0||",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Type: text/plain|Transfer-Encoding:"
                        + " chunked||FFFFFFFFF|abc|",
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Type: text/plain|Transfer-Encoding:"
                        + " chunked||2|abc|0||",
                "GET /v1/stream/a HTTP/1.1||",
                "GET /v1/stream/a HTTP/1.1|Host: localhost|Host: y||",
                "GET /v1/stream/a HTTP/1.1|Host : x||",
                "GET /v1/stream/a HTTP/1.1|Host: localhost|bad header||",
                "GET /v1/stream/a?offset=%ZZ HTTP/1.1|Host: localhost||",
                "GET /v1/stream/a HTTP/1.1|Host: localhost|a\u0000b: y||",
                "GET v1/stream/a HTTP/1.1|Host: localhost||",
                "GET /v1/stream/a|Host: localhost||",
                "GET /v1/stream/a HTTP/one|Host: localhost||",
                "GET  HTTP/1.1|Host: localhost||",
                "\u0000\u0001\u0002|||"
            })
    void rejectsAmbiguousAndMalformedRequests(String request) throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send(request.replace("|", "\r\n"));
            raw.finishSending();
            RawClient.Response rejected = raw.read();
            assertThat(rejected.status()).isEqualTo(400);
            assertThat(rejected.headers()).containsEntry("connection", "close");
            assertThat(rejected.headers()).containsEntry("content-type", "application/problem+json");
            assertThat(raw.atEnd()).isTrue();
        }
        assertThat(server.get("/v1/stream/a").body()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.2", "HTTP/2.0", "HTTP/0.9"})
    void rejectsOtherHttpVersions(String version) throws Exception {
        assertThat(server.ask("GET / " + version + "\r\nHost: localhost\r\n\r\n")
                        .status())
                .isEqualTo(505);
    }

    /** The server must reject transfer encodings that it does not decode, or it would store the encoded bytes. */
    @ParameterizedTest
    @ValueSource(strings = {"gzip, chunked", "identity, chunked"})
    void rejectsUnsupportedTransferEncodings(String encoding) throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send(("POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Type: text/plain|Transfer-Encoding: "
                            + encoding + "||3|abc|0||")
                    .replace("|", "\r\n"));
            RawClient.Response rejected = raw.read();
            assertThat(rejected.status()).isEqualTo(501);
            assertThat(rejected.body()).contains("unsupported_transfer_encoding");
            assertThat(raw.atEnd()).isTrue();
        }
        assertThat(server.get("/v1/stream/a").body()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://x/healthz", "https://x/healthz", "HTTPS://x:1/healthz?a=b", "/healthz"})
    void acceptsAbsoluteRequestTargets(String url) throws Exception {
        assertThat(server.ask(get(url)).body()).contains("alive");
    }

    @Test
    void rejectsHeadersBeyondLimit() throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "
                    + "x".repeat(HttpConnection.Decoder.MAX_HEADER_BYTES) + "\r\n\r\n");
            assertThat(raw.read().status()).isEqualTo(431);
            assertThat(raw.atEnd()).isTrue();
        }
    }

    @Test
    void http10BodyEndsWithConnection() throws Exception {
        for (int i = 0; i < 5; i++) {
            server.append("/v1/stream/a", "text/plain", "x".repeat(HttpFixture.MAX_BODY_BYTES));
        }
        try (RawClient raw = server.raw()) {
            raw.send("GET /v1/stream/a HTTP/1.0\r\n\r\n");
            RawClient.Response head = raw.read();
            assertThat(head.status()).isEqualTo(200);
            assertThat(head.headers()).doesNotContainKey("transfer-encoding").containsEntry("connection", "close");
            assertThat(raw.rest()).hasSize(5 * HttpFixture.MAX_BODY_BYTES);
        }
    }

    @Test
    void closesConnectionAfterCloseHeaderOrHalfClose() throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" + get("/healthz"));
            assertThat(raw.read().headers()).containsEntry("connection", "close");
            assertThat(raw.atEnd()).isTrue();
        }
        try (RawClient raw = server.raw()) {
            raw.send(get("/healthz") + get("/readyz"));
            raw.finishSending();
            assertThat(raw.read().body()).contains("alive");
            assertThat(raw.read().body()).contains("ready");
            assertThat(raw.atEnd()).isTrue();
        }
    }

    /** A half-closed client must receive all responses, even to requests that were not decoded when its input ended. */
    @Test
    void halfClosedClientReceivesResponsesToPipelinedRequests() throws Exception {
        try (RawClient raw = server.raw()) {
            StringBuilder ahead = new StringBuilder();
            for (int i = 0; i < 200; i++) {
                ahead.append(post("/v1/stream/a", i + ",")).append(get("/v1/stream/a?offset=" + Offset.of(i)));
            }
            raw.send(ahead.toString());
            raw.finishSending();
            for (int i = 0; i < 200; i++) {
                assertThat(raw.read().headers()).containsEntry("stream-next-offset", Offset.of(i + 1));
                assertThat(raw.read().body()).isEqualTo(i + ",");
            }
            assertThat(raw.atEnd()).isTrue();
        }
    }

    @Test
    void halfClosedClientReceivesLargeResponse() throws Exception {
        int values = 300;
        for (int i = 0; i < values; i++) {
            server.append("/v1/stream/a", "text/plain", "x".repeat(HttpFixture.MAX_BODY_BYTES));
        }
        try (RawClient raw = server.raw()) {
            raw.send(get("/v1/stream/a"));
            raw.finishSending();
            assertThat(raw.read().body()).hasSize(values * HttpFixture.MAX_BODY_BYTES);
            assertThat(raw.atEnd()).isTrue();
        }
    }

    @Test
    void doesNotAppendIncompleteBody() throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send("POST /v1/stream/a HTTP/1.1\r\n"
                    + "Host: localhost\r\n"
                    + "Content-Type: text/plain\r\n"
                    + "Content-Length: 5\r\n\r\n"
                    + "ab");
            raw.finishSending();
            assertThat(raw.atEnd()).isTrue();
        }
        assertThat(server.get("/v1/stream/a").body()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST /v1/stream/a HTTP/1.1|Host: localhost|Content-Length: 5||ab",
                "GET /v1/str",
                "GET / HTTP/1.1|Host:"
            })
    void incompleteRequestTimesOut(String partialRequest) throws Exception {
        try (HttpFixture impatient = HttpFixture.dropping(Duration.ofMillis(200));
                RawClient raw = impatient.raw()) {
            raw.send(partialRequest.replace("|", "\r\n"));
            assertThat(raw.read().status()).isEqualTo(408);
            assertThat(raw.atEnd()).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({"PATCH, /v1/stream/a, 405", "POST, /healthz, 405", "GET, /nothing, 404", "GET, /v1/stream, 404"})
    void rejectedHeadKeepsConnectionOpen(String method, String path, int status) throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/healthz"));
            assertThat(raw.read().status()).isEqualTo(status);
            assertThat(raw.read().status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "PATCH, /v1/stream/a, 'PUT, POST, GET, HEAD, DELETE, OPTIONS'",
        "POST, /healthz, 'GET, HEAD, OPTIONS'",
        "PUT, /v1/documents, 'GET, HEAD, OPTIONS'",
        "GET, /v1/batch, 'POST, OPTIONS'"
    })
    void allowHeaderNamesEverySupportedMethod(String method, String path, String allowed) throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assertThat(raw.read().headers()).containsEntry("allow", allowed);
        }
    }

    @Test
    void headResponseHasNoBody() throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/readyz"));
            assertThat(raw.head().status()).isEqualTo(200);
            assertThat(raw.read().body()).contains("ready");
        }
    }

    @Test
    void respondsToCorsPreflight() throws Exception {
        try (RawClient raw = server.raw()) {
            raw.send("OPTIONS /v1/stream/a HTTP/1.1\r\nHost: localhost\r\nOrigin: http://y\r\n"
                    + "Access-Control-Request-Method: PUT\r\n\r\nOPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n");
            RawClient.Response allowed = raw.read();
            assertThat(allowed.status()).isEqualTo(204);
            assertThat(allowed.headers().get("access-control-allow-methods")).contains("PUT", "DELETE");
            assertThat(allowed.headers().get("access-control-allow-headers")).contains("Stream-Seq", "Authorization");
            assertThat(raw.read().status()).isEqualTo(204);
        }
    }

    /** An HTTP/1.0 client must be able to detect an incomplete body, although a close may also end a complete one. */
    @Test
    void http10ClientDetectsIncompleteResponse() throws Exception {
        for (int i = 0; i < 300; i++) {
            server.append("/v1/stream/a", "text/plain", "x".repeat(HttpFixture.MAX_BODY_BYTES));
        }
        try (RawClient raw = server.raw()) {
            raw.send("GET /v1/stream/a HTTP/1.0\r\n\r\n");
            assertThat(raw.line()).contains("200");
            assertThat(server.status("POST", "/v1/stream/a?trim=now", null)).isEqualTo(204);
            assertThatThrownBy(raw::rest).isInstanceOf(SocketException.class);
        }
    }
}
