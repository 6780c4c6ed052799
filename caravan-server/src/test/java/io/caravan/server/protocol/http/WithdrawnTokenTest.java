package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.security.FileAuthenticator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests in progress when their token is revoked. They must not return further data or write. */
class WithdrawnTokenTest {
    private static final String STREAM = "/v1/stream/a";
    private static final String WRITER = "writer.secret = writes-and-writes\nwriter.permissions = write\n";
    private static final String READER = "reader.secret = reads-and-reads\nreader.permissions = read\n";

    @TempDir
    private Path directory;

    private Path file;
    private FileAuthenticator authenticator;

    @AutoClose
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        file = Files.writeString(directory.resolve("secrets"), WRITER + READER);
        authenticator = FileAuthenticator.ofSecrets(file);
        server = new HttpFixture(ListStore.inMemory(), authenticator, HttpFixture.LONG, HttpFixture.LONG);
        server.serve();
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

    private void withdraw() throws IOException {
        Files.writeString(file, WRITER);
        authenticator.reload();
    }

    @Test
    void aLongPollEndsWithoutTheValue() throws Exception {
        try (RawClient poll = read("?offset=-1&live=long-poll")) {
            server.awaitTailedDocuments(1);
            withdraw();
            assertThat(write("POST", "hidden")).isEqualTo(204);
            RawClient.Response response = poll.read();
            assertThat(response.status()).isEqualTo(401);
            assertThat(response.body()).contains("withdrawn").doesNotContain("hidden");
        }
    }

    /** The head was authorized, and the token is revoked while the body is being sent. */
    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "DELETE"})
    void aWriteWhoseRequestHadBegunChangesNothing(String method) throws Exception {
        String target = method.equals("PUT") ? "/v1/stream/b" : STREAM;
        try (RawClient raw = server.raw()) {
            raw.send(
                    method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                            + "Authorization: Bearer writes-and-writes\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\n");
            assertThat(raw.line()).startsWith("HTTP/1.1 100");
            assertThat(raw.line()).isEmpty();
            Files.writeString(file, READER);
            authenticator.reload();
            raw.send("x");
            RawClient.Response response = raw.read();
            assertThat(response.status()).isEqualTo(401);
            assertThat(response.body()).contains("withdrawn");
        }
        assertThat(server.documents.find(DocumentName.of("b"))).isNull();
        assertThat(Objects.requireNonNull(server.documents.find(DocumentName.of("a")))
                        .count())
                .isZero();
    }

    @Test
    void anEventStreamEndsWithoutTheValue() throws Exception {
        try (RawClient events = read("?offset=-1&live=sse")) {
            assertThat(events.line()).isEqualTo("HTTP/1.1 200 OK");
            while (!events.line().isEmpty()) {
                // Skips the head.
            }
            assertThat(events.chunk()).contains("upToDate");
            withdraw();
            assertThat(write("POST", "hidden")).isEqualTo(204);
            assertThat(events.rest()).doesNotContain("hidden");
        }
    }
}
