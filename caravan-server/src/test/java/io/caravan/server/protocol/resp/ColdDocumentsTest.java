package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.archive.restore.ServerRestores.RestoreConfig;
import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients of a server that has lost its store and fetches archived documents when they are needed. */
class ColdDocumentsTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final HttpClient http = HttpClient.newHttpClient();
    private final MemoryObjects objects = new MemoryObjects(InstantSource.system());
    /** Whether the archive is unreachable. */
    private volatile boolean down;

    private ServerFixture server;
    private RespClient client;

    @BeforeEach
    void archiveSomeDocuments() throws Exception {
        start(ListStore.inMemory());
        answers(":3", "RPUSH", "a", "1", "2", "3");
        answers(":1", "RPUSH", "b", "x");
        send("PUT", "s", "hello", "Content-Type", "text/plain");
        send("PUT", "f", "", "Content-Type", "text/plain", "Stream-Forked-From", "/v1/stream/s");
        answers("+OK", "LTRIM", "a", "1", "-1");
        for (String name : new String[] {"a", "b", "s", "f"}) {
            assertThat(client.call("CARAVAN.ARCHIVE", name)).contains("$uploaded: #");
        }
        stop();
        start(ListStore.inMemory());
    }

    @AfterEach
    void stopAll() throws Exception {
        stop();
    }

    private void start(ListStore store) throws IOException {
        ArchiveConfig archive = Claims.config(
                "memory:",
                () -> objects.client().faults((number, call, key) -> down ? ObjectFault.REFUSED : ObjectFault.NONE),
                true,
                true,
                false,
                Duration.ofHours(1),
                2,
                0,
                false);
        RestoreConfig restore = new RestoreConfig(true, Duration.ZERO, 1, Path.of("data"), 1024 * 1024);
        server = new ServerFixture(
                store,
                config -> config.withArchive(archive)
                        .withRestore(restore)
                        .withHttp(HttpConfig.of(ANY_PORT, 1024 * 1024, 4 * 1024 * 1024)));
        client = server.connect();
        client.call("HELLO", "3");
        Eventually.await(
                "the archive is at hand",
                () -> !call("CARAVAN.RESTORE", "nothing").contains("nothing can be read"));
    }

    private void stop() throws IOException {
        client.close();
        server.close();
    }

    private String call(String... words) {
        try {
            return client.call(words);
        } catch (IOException problem) {
            throw new AssertionError(problem);
        }
    }

    private void answers(String expected, String... words) {
        assertThat(call(words)).as(String.join(" ", words)).isEqualTo(expected);
    }

    private HttpResponse<String> send(String method, String name, String body, String... headers) throws Exception {
        InetSocketAddress address = server.server.httpAddress();
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + address.getPort() + "/v1/stream/" + name))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }

    @Test
    void readsFindThem() {
        answers("[$2, $3]", "LRANGE", "a", "0", "-1");
        answers(":2", "EXISTS", "a", "b", "nothing");
        answers("+list", "TYPE", "b");
        assertThat(call("CARAVAN.INFO", "a")).contains("$first: :1", "$next: :3");
        answers("+none", "TYPE", "nothing");
    }

    @Test
    void writesGoOnWhereTheyEnded() {
        answers(":3", "RPUSH", "a", "4");
        assertThat(call("CARAVAN.APPEND", "b", "IFSEQ", "1", "y")).isEqualTo(":1");
        answers("[$2, $3, $4]", "LRANGE", "a", "0", "-1");
        answers("$2", "LPOP", "a");
        answers(":1", "EXPIRE", "b", "100");
        answers(":1", "PERSIST", "b");
    }

    @Test
    void whatIsDeletedStaysDeleted() {
        answers(":2", "DEL", "a", "b", "nothing");
        answers(":0", "EXISTS", "a", "b");
        answers(":1", "RPUSH", "a", "new");
        answers("[$new]", "LRANGE", "a", "0", "-1");
    }

    @Test
    void transactionsFindThem() {
        answers("+OK", "MULTI");
        answers("+QUEUED", "RPUSH", "a", "4");
        answers("+QUEUED", "DEL", "b");
        answers("+QUEUED", "CARAVAN.APPEND", "a", "IFSEQ", "4", "5");
        answers("[:3, :1, :4]", "EXEC");
        answers("[$2, $3, $4, $5]", "LRANGE", "a", "0", "-1");
    }

    @Test
    void onlyWhatIsHereIsListed() {
        answers("[]", "KEYS", "*");
        answers(":2", "LLEN", "a");
        answers("[$a]", "KEYS", "*");
    }

    @Test
    void streamsAndForksOfThemAreThere() throws Exception {
        HttpResponse<String> read = send("GET", "s?offset=-1", "");
        assertThat(read.body()).isEqualTo("hello");
        assertThat(read.headers().firstValue("Content-Type")).contains("text/plain");
        assertThat(send("GET", "f?offset=-1", "").body()).isEqualTo("hello");
        assertThat(send("POST", "f", " you", "Content-Type", "text/plain").statusCode())
                .isEqualTo(204);
        assertThat(send("GET", "f?offset=-1", "").body()).isEqualTo("hello you");
        assertThat(send("PUT", "g", "", "Content-Type", "text/plain", "Stream-Forked-From", "/v1/stream/s")
                        .statusCode())
                .isEqualTo(201);
        assertThat(send("DELETE", "s", "").statusCode()).isEqualTo(204);
        assertThat(send("HEAD", "s", "").statusCode()).isEqualTo(410);
    }

    @Test
    void anArchiveThatIsDownIsNoReasonToSayThatThereIsNothing() throws Exception {
        down = true;
        assertThat(call("LRANGE", "a", "0", "-1")).startsWith("-ARCHIVE ");
        assertThat(call("RPUSH", "a", "4")).startsWith("-ARCHIVE ");
        HttpResponse<String> read = send("GET", "s?offset=-1", "");
        assertThat(read.statusCode()).isEqualTo(503);
        assertThat(read.headers().firstValue("Retry-After")).contains("1");
        assertThat(read.body()).contains("\"code\":\"archive_unavailable\"");
        down = false;
        Eventually.await("it is there", () -> call("LRANGE", "a", "0", "-1").equals("[$2, $3]"));
    }

    @Test
    void pipelinedRequestsKeepTheirOrder() throws IOException {
        for (int i = 0; i < 50; i++) {
            client.send("RPUSH", "a", "v" + i);
            client.send("LINDEX", "a", "-1");
        }
        for (int i = 0; i < 50; i++) {
            assertThat(client.read()).isEqualTo(":" + (3 + i));
            assertThat(client.read()).isEqualTo("$v" + i);
        }
    }

    @Test
    void whatFollowsAWriteOfSeveralDocumentsComesAfterIt() throws IOException {
        answers(":1", "RPUSH", "here", "x");
        client.send("DEL", "here", "a", "b");
        client.send("RPUSH", "here", "after");
        client.send("RPUSH", "a", "after");
        assertThat(client.read()).isEqualTo(":3");
        assertThat(client.read()).isEqualTo(":1");
        assertThat(client.read()).isEqualTo(":1");
    }

    @Test
    void aWriteThatIsRefusedOnceItsDocumentIsThereIsAnswered() throws Exception {
        client.send("CARAVAN.APPEND", "a", "IFSEQ", "0", "x");
        client.send("PING");
        assertThat(client.read()).startsWith("-CONFLICT ");
        assertThat(client.read()).isEqualTo("+PONG");
        answers("+OK", "MULTI");
        answers("+QUEUED", "CARAVAN.APPEND", "b", "IFSEQ", "0", "y");
        assertThat(call("EXEC")).startsWith("-");
        answers("[$x]", "LRANGE", "b", "0", "-1");
        assertThat(send("POST", "s", "x", "Content-Type", "text/csv").statusCode())
                .isEqualTo(409);
        assertThat(send("POST", "f", "x", "Content-Type", "text/plain", "Stream-Seq", "b")
                        .statusCode())
                .isEqualTo(204);
        assertThat(send("POST", "f", "x", "Content-Type", "text/plain", "Stream-Seq", "a")
                        .statusCode())
                .isEqualTo(409);
    }

    @Test
    void twoWhoPopFromOneDocumentGetDifferentValues() throws Exception {
        try (RespClient other = server.connect()) {
            client.send("LPOP", "a");
            other.send("LPOP", "a");
            assertThat(List.of(client.read(), other.read())).containsExactlyInAnyOrder("$2", "$3");
        }
    }

    @Test
    void nothingFollowsAWriteThatWaits() throws IOException {
        client.send("RPUSH", "here", "old");
        client.send("DEL", "a", "here");
        client.send("RPUSH", "here", "new");
        client.send("LRANGE", "here", "0", "-1");
        assertThat(client.read()).isEqualTo(":1");
        assertThat(client.read()).isEqualTo(":2");
        assertThat(client.read()).isEqualTo(":1");
        assertThat(client.read()).isEqualTo("[$new]");
        client.send("MULTI");
        client.send("RPUSH", "b", "1");
        client.send("RPUSH", "cold", "1");
        client.send("EXEC");
        client.send("RPUSH", "cold", "2");
        client.send("LRANGE", "cold", "0", "-1");
        assertThat(client.read()).isEqualTo("+OK");
        assertThat(client.read()).isEqualTo("+QUEUED");
        assertThat(client.read()).isEqualTo("+QUEUED");
        assertThat(client.read()).isEqualTo("[:2, :1]");
        assertThat(client.read()).isEqualTo(":2");
        assertThat(client.read()).isEqualTo("[$1, $2]");
    }
}
