package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.ListStore;
import io.caravan.server.app.ServerFixture;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.push.ArchiveConfig;
import io.caravan.server.archive.restore.RestoreService.RestoreConfig;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests a server that has lost its store and fetches archived documents when clients use them. */
class ColdDocumentsTest {

    private final MemoryObjects objects = new MemoryObjects(InstantSource.system());
    /** Whether the archive is unreachable. */
    private volatile boolean down;
    /** The latch for which all calls to the archive wait. */
    private volatile CountDownLatch hangs = new CountDownLatch(0);

    private ServerFixture server;
    private RespClient client;

    @BeforeEach
    void archiveSomeDocuments() throws Exception {
        start(ListStore.inMemory());
        replies(":3", "RPUSH", "a", "1", "2", "3");
        replies(":1", "RPUSH", "b", "x");
        send("PUT", "s", "hello", "Content-Type", "text/plain");
        send("PUT", "f", "", "Content-Type", "text/plain", "Stream-Forked-From", "/v1/stream/s");
        replies("+OK", "LTRIM", "a", "1", "-1");
        for (String name : new String[] {"a", "b", "s", "f"}) {
            assertThat(client.call("CARAVAN.ARCHIVE", name)).contains("$uploaded: #");
        }
        stop();
        start(ListStore.inMemory());
    }

    private void start(ListStore store) throws IOException {
        ArchiveConfig archive = Claims.config(
                "memory:",
                () -> objects.client().faults((number, call, key) -> fault()),
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
                config -> config.withArchive(archive).withRestore(restore).withHttp(ServerFixture.HTTP));
        client = server.connect();
        client.call("HELLO", "3");
        client.await(reply -> !reply.contains("nothing can be read"), "CARAVAN.RESTORE", "nothing");
    }

    /** Waits until a line of a page contains both parts. */
    private void awaitLine(String path, String part, String otherPart) {
        Eventually.await(part + otherPart, () -> {
            try {
                return server.get(path).lines().anyMatch(line -> line.contains(part) && line.contains(otherPart));
            } catch (IOException | InterruptedException failed) {
                throw new IllegalStateException(failed);
            }
        });
    }

    private ObjectFault fault() {
        try {
            hangs.await();
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
        return down ? ObjectFault.REJECTED : ObjectFault.NONE;
    }

    @AfterEach
    void stop() throws IOException {
        hangs.countDown();
        client.close();
        server.close();
    }

    private void replies(String expected, String... words) throws IOException {
        client.replies(expected, words);
    }

    private HttpResponse<String> send(String method, String name, String body, String... headers) throws Exception {
        return server.http(method, "/v1/stream/" + name, body, headers);
    }

    private int status(String method, String name, String body, String... headers) throws Exception {
        return send(method, name, body, headers).statusCode();
    }

    @Test
    void readsFindArchivedDocuments() throws IOException {
        replies("[$2, $3]", "LRANGE", "a", "0", "-1");
        replies(":2", "EXISTS", "a", "b", "nothing");
        replies("+list", "TYPE", "b");
        assertThat(client.call("CARAVAN.INFO", "a")).contains("$first: :1", "$next: :3");
        replies("+none", "TYPE", "nothing");
    }

    @Test
    void writesContinueArchivedDocuments() throws IOException {
        replies(":3", "RPUSH", "a", "4");
        assertThat(client.call("CARAVAN.APPEND", "b", "IFSEQ", "1", "y")).isEqualTo(":1");
        replies("[$2, $3, $4]", "LRANGE", "a", "0", "-1");
        replies("$2", "LPOP", "a");
        replies(":1", "EXPIRE", "b", "100");
        replies(":1", "PERSIST", "b");
    }

    @Test
    void deletedArchivedDocumentStaysDeleted() throws IOException {
        replies(":2", "DEL", "a", "b", "nothing");
        replies(":0", "EXISTS", "a", "b");
        replies(":1", "RPUSH", "a", "new");
        replies("[$new]", "LRANGE", "a", "0", "-1");
    }

    @Test
    void transactionsUseArchivedDocuments() throws IOException {
        replies("+OK", "MULTI");
        replies("+QUEUED", "RPUSH", "a", "4");
        replies("+QUEUED", "DEL", "b");
        replies("+QUEUED", "CARAVAN.APPEND", "a", "IFSEQ", "4", "5");
        replies("[:3, :1, :4]", "EXEC");
        replies("[$2, $3, $4, $5]", "LRANGE", "a", "0", "-1");
    }

    @Test
    void listsOnlyLocalDocuments() throws IOException {
        replies("[]", "KEYS", "*");
        replies(":2", "LLEN", "a");
        replies("[$a]", "KEYS", "*");
    }

    @Test
    void restoresStreamsAndForks() throws Exception {
        HttpResponse<String> read = send("GET", "s?offset=-1", "");
        assertThat(read.body()).isEqualTo("hello");
        assertThat(read.headers().firstValue("Content-Type")).contains("text/plain");
        assertThat(send("GET", "f?offset=-1", "").body()).isEqualTo("hello");
        assertThat(status("POST", "f", " you", "Content-Type", "text/plain")).isEqualTo(204);
        assertThat(send("GET", "f?offset=-1", "").body()).isEqualTo("hello you");
        assertThat(status("PUT", "g", "", "Content-Type", "text/plain", "Stream-Forked-From", "/v1/stream/s"))
                .isEqualTo(201);
        assertThat(status("DELETE", "s", "")).isEqualTo(204);
        assertThat(status("HEAD", "s", "")).isEqualTo(410);
    }

    @Test
    void reportsUnavailableArchive() throws Exception {
        down = true;
        assertThat(client.call("LRANGE", "a", "0", "-1")).startsWith("-ARCHIVE ");
        assertThat(client.call("RPUSH", "a", "4")).startsWith("-ARCHIVE ");
        HttpResponse<String> read = send("GET", "s?offset=-1", "");
        assertThat(read.statusCode()).isEqualTo(503);
        assertThat(read.headers().firstValue("Retry-After")).contains("1");
        assertThat(read.body()).contains("\"code\":\"archive_unavailable\"");
        down = false;
        client.await("[$2, $3]"::equals, "LRANGE", "a", "0", "-1");
    }

    /** A write that waits for the archive must be dropped on a disconnect, because it then counts toward no limit. */
    @Test
    void dropsWaitingWritesWhenConnectionsClose() throws Exception {
        hangs = new CountDownLatch(1);
        InetSocketAddress http = server.server.httpAddress();
        try (RespClient overResp = server.connect();
                Socket overHttp = new Socket(http.getAddress(), http.getPort())) {
            overResp.send("RPUSH", "a", "4");
            overHttp.getOutputStream().write("""
                    POST /v1/stream/s HTTP/1.1\r
                    Host: localhost\r
                    Content-Type: text/plain\r
                    Content-Length: 4\r
                    \r
                     you""".getBytes(StandardCharsets.US_ASCII));
            awaitLine("/v1/archive", "\"waiting\":2", "");
            replies(":1", "CLIENT", "KILL", "TYPE", "NORMAL", "SKIPME", "yes");
            // Makes the close a reset, because after an orderly end the client might still read.
            overHttp.setSoLinger(true, 0);
        }
        awaitLine("/metrics", "\"abandoned\"", "\"resp\"");
        awaitLine("/metrics", "\"abandoned\"", "\"http\"");
        hangs.countDown();
        replies("[$2, $3]", "LRANGE", "a", "0", "-1");
        assertThat(send("GET", "s?offset=-1", "").body()).isEqualTo("hello");
    }

    @Test
    void pipelinedRequestsKeepOrder() throws IOException {
        for (int i = 0; i < 50; i++) {
            client.send("RPUSH", "a", "v" + i);
            client.send("LINDEX", "a", "-1");
        }
        for (int i = 0; i < 50; i++) {
            client.reads(":" + (3 + i), "$v" + i);
        }
    }

    @Test
    void requestsAfterMultiDocumentWriteKeepOrder() throws IOException {
        replies(":1", "RPUSH", "here", "x");
        client.send("DEL", "here", "a", "b");
        client.send("RPUSH", "here", "after");
        client.send("RPUSH", "a", "after");
        client.reads(":3", ":1", ":1");
    }

    @Test
    void reportsWriteRejectedAfterRestore() throws Exception {
        client.send("CARAVAN.APPEND", "a", "IFSEQ", "0", "x");
        client.send("PING");
        assertThat(client.read()).startsWith("-CONFLICT ");
        assertThat(client.read()).isEqualTo("+PONG");
        replies("+OK", "MULTI");
        replies("+QUEUED", "CARAVAN.APPEND", "b", "IFSEQ", "0", "y");
        assertThat(client.call("EXEC")).startsWith("-");
        replies("[$x]", "LRANGE", "b", "0", "-1");
        assertThat(status("POST", "s", "x", "Content-Type", "text/csv")).isEqualTo(409);
        assertThat(status("POST", "f", "x", "Content-Type", "text/plain", "Stream-Seq", "b"))
                .isEqualTo(204);
        assertThat(status("POST", "f", "x", "Content-Type", "text/plain", "Stream-Seq", "a"))
                .isEqualTo(409);
    }

    @Test
    void concurrentPopsReturnDifferentValues() throws Exception {
        try (RespClient other = server.connect()) {
            client.send("LPOP", "a");
            other.send("LPOP", "a");
            assertThat(List.of(client.read(), other.read())).containsExactlyInAnyOrder("$2", "$3");
        }
    }

    @Test
    void laterCommandsWaitForDelayedWrite() throws IOException {
        client.send("RPUSH", "here", "old");
        client.send("DEL", "a", "here");
        client.send("RPUSH", "here", "new");
        client.send("LRANGE", "here", "0", "-1");
        client.reads(":1", ":2", ":1", "[$new]");
        client.send("MULTI");
        client.send("RPUSH", "b", "1");
        client.send("RPUSH", "cold", "1");
        client.send("EXEC");
        client.send("RPUSH", "cold", "2");
        client.send("LRANGE", "cold", "0", "-1");
        client.reads("+OK", "+QUEUED", "+QUEUED", "[:2, :1]", ":2", "[$1, $2]");
    }
}
