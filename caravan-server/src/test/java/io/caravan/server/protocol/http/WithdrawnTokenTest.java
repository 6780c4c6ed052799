package io.caravan.server.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.MemoryListStore;
import io.caravan.server.security.FileAuthenticator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What has begun tells nothing more once the token is withdrawn that allowed it. */
class WithdrawnTokenTest {
    private static final String STREAM = "/v1/stream/a";
    private static final String WRITER = "writer.secret = writes-and-writes\nwriter.permissions = write\n";
    private static final String READER = "reader.secret = reads-and-reads\nreader.permissions = read\n";

    @TempDir
    private Path directory;

    private Path file;
    private FileAuthenticator authenticator;
    private HttpFixture server;

    @BeforeEach
    void start() throws Exception {
        file = Files.writeString(directory.resolve("secrets"), WRITER + READER);
        authenticator = FileAuthenticator.ofSecrets(file);
        server = new HttpFixture(new MemoryListStore(), authenticator, HttpFixture.LONG, HttpFixture.LONG);
        server.serve();
        assertThat(write("PUT", null)).isEqualTo(201);
    }

    @AfterEach
    void stop() {
        server.close();
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

    @Test
    void anEventStreamEndsWithoutTheValue() throws Exception {
        try (RawClient events = read("?offset=-1&live=sse")) {
            assertThat(events.line()).isEqualTo("HTTP/1.1 200 OK");
            while (!events.line().isEmpty()) {
                // The head.
            }
            assertThat(events.chunk()).contains("upToDate");
            withdraw();
            assertThat(write("POST", "hidden")).isEqualTo(204);
            assertThat(events.rest()).doesNotContain("hidden");
        }
    }
}
