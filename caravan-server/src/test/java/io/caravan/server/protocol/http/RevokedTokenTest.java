package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.security.TestUsers;
import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests requests whose token is revoked before they end. They must neither return further data nor write. */
class RevokedTokenTest {
    private static final String STREAM = "/v1/stream/a";
    private static final String WRITER = "writer.secret = writes-and-writes\nwriter.permissions = write\n";
    private static final String READER = "reader.secret = reads-and-reads\nreader.permissions = read\n";

    private TestUsers users;

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        users = new TestUsers(WRITER + READER);
        server = HttpFixture.guarded(users.authenticator);
        assertThat(write("PUT", null)).isEqualTo(201);
    }

    private int write(String method, String body) throws Exception {
        String[] headers = {"Content-Type", "text/plain", "Authorization", "Bearer writes-and-writes"};
        return server.send(method, STREAM, body, headers).statusCode();
    }

    private RawClient read(String query) throws IOException {
        RawClient raw = server.raw();
        raw.send("GET " + STREAM + query
                + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer reads-and-reads\r\n\r\n");
        return raw;
    }

    @Test
    void longPollEndsWithoutValue() throws Exception {
        try (RawClient poll = read("?offset=-1&live=long-poll")) {
            server.awaitTailedDocuments(1);
            users.replace(READER, "");
            assertThat(write("POST", "hidden")).isEqualTo(204);
            RawClient.Response response = poll.read();
            assertThat(response.status()).isEqualTo(401);
            assertThat(response.body()).contains("revoked").doesNotContain("hidden");
        }
    }

    /** A write must be rejected if the token is revoked after the head was authorized but before the body ends. */
    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE"})
    void rejectsWriteInProgress(String method) throws Exception {
        String target = method.equals("PUT") ? "/v1/stream/b" : STREAM;
        try (RawClient raw = server.raw()) {
            raw.send(method + " " + target + " HTTP/1.1\r\n"
                    + "Host: localhost\r\n"
                    + "Expect: 100-continue\r\n"
                    + "Authorization: Bearer writes-and-writes\r\n"
                    + "Content-Type: text/plain\r\n"
                    + "Content-Length: 1\r\n\r\n");
            assertThat(raw.line()).startsWith("HTTP/1.1 100");
            assertThat(raw.line()).isEmpty();
            users.replace(WRITER, "");
            raw.send("x");
            RawClient.Response response = raw.read();
            assertThat(response.status()).isEqualTo(401);
            assertThat(response.body()).contains("revoked");
        }
        assertThat(server.documents.find(DocumentName.of("b"))).isNull();
        assertThat(Objects.requireNonNull(server.documents.find(DocumentName.of("a")))
                        .count())
                .isZero();
    }

    @Test
    void eventStreamEndsWithoutValue() throws Exception {
        try (RawClient events = read("?offset=-1&live=sse")) {
            assertThat(events.head().status()).isEqualTo(200);
            assertThat(events.chunk()).contains("upToDate");
            users.replace(READER, "");
            assertThat(write("POST", "hidden")).isEqualTo(204);
            assertThat(events.rest()).doesNotContain("hidden");
        }
    }
}
