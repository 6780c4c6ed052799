package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.server.protocol.http.Offset;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the durability setting of a space: the fsyncs that it causes and the replies that wait for them. */
class SpaceDurabilityTest {

    @TempDir
    Path directory;

    private ListStore store;
    private ServerFixture server;
    private RespClient client;

    private void start(Durability level) throws IOException {
        store = DurableListStore.open(SmallFiles.config(directory.resolve("store"))
                .durability(level)
                .checkpointFloorBytes(1L << 40)
                .build());
        server = new ServerFixture(
                store, config -> new ServerConfig(config.resp(), config.limits(), level).withHttp(ServerFixture.HTTP));
        client = server.connect();
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
    }

    private static void assertDurability(String durability, HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isBetween(200, 299);
        assertThat(response.headers().firstValue("Stream-Durability").orElse(""))
                .isEqualTo(durability);
    }

    /** Returns the store's fsync count. Makes a write first, so that the statistics include the previous flush. */
    private long fsyncCount() {
        store.write(WriteBatch.create().durability(Durability.MEMORY)).join();
        return store.stats().fsyncs();
    }

    private long fsyncsOf(String... words) throws IOException {
        long before = fsyncCount();
        assertThat(client.call(words)).doesNotStartWith("-");
        return fsyncCount() - before;
    }

    @Test
    void memoryDurabilityNeedsNoFsyncAndIsReported() throws Exception {
        start(Durability.SYNC);
        assertThat(client.call("CARAVAN.SPACE", "SET", "m/", "durability", "memory"))
                .contains("$durability, $memory", "$effective-durability, $memory");
        for (int i = 0; i < 10; i++) {
            assertThat(fsyncsOf("RPUSH", "m/a", "value")).isZero();
        }
        assertThat(fsyncsOf("LTRIM", "m/a", "5", "-1")).isZero();
        assertThat(fsyncsOf("LRANGE", "m/a", "0", "-1")).isZero();
        assertThat(fsyncsOf("CARAVAN.TRIM", "m/a", "TO", "7")).isZero();
        long before = fsyncCount();
        assertThat(client.call("RPUSHX", "m/none", "value")).isEqualTo(":0");
        assertThat(client.call("CARAVAN.APPEND", "m/a", "IFSEQ", "1", "value")).startsWith("-CONFLICT");
        assertDurability("memory", server.http("PUT", "/v1/stream/m/h", "one"));
        assertDurability("memory", server.http("POST", "/v1/stream/m/h", "two"));
        assertDurability("memory", server.http("POST", "/v1/stream/m/h?trim=" + Offset.of(1), ""));
        assertDurability("memory", server.http("HEAD", "/v1/stream/m/h", ""));
        assertDurability("memory", server.http("POST", "/v1/batch", """
                {"operations": [{"path": "/v1/stream/m/h", "append": ["three"]}]}"""));
        assertDurability("memory", server.http("DELETE", "/v1/stream/m/h", ""));
        assertThat(fsyncCount()).as("fsyncs").isEqualTo(before);
        assertThat(client.call("CARAVAN.INFO", "m/a")).contains("$durability, $memory");
        assertThat(client.call("INFO", "spaces")).contains("spaces_less_durable:1");
        assertThat(server.get("/v1/documents?prefix=m/")).contains("\"durability\":\"memory\"");
        assertThat(server.get("/v1/spaces/m/"))
                .contains("\"durability\":\"memory\"", "\"effectiveDurability\":\"memory\"");
        assertThat(server.get("/metrics")).contains("caravan_space_durability{prefix=\"m/\"} 1.0");
    }

    @Test
    void otherDocumentsAreStillFsynced() throws Exception {
        start(Durability.SYNC);
        client.call("CARAVAN.SPACE", "SET", "m/", "durability", "memory");
        client.call("CARAVAN.SPACE", "SET", "m/but/", "max-values", "10");
        for (String name : new String[] {"other", "m/but/this"}) {
            assertThat(fsyncsOf("RPUSH", name, "value")).as(name).isEqualTo(1);
            assertThat(fsyncsOf("RPUSH", name, "another")).as(name).isEqualTo(1);
            assertThat(client.call("CARAVAN.INFO", name)).contains("$durability, $sync");
            assertDurability("", server.http("HEAD", "/v1/stream/" + name, ""));
        }
    }

    @Test
    void writeUsesStrongestDurabilityOfItsDocuments() throws Exception {
        start(Durability.SYNC);
        client.call("CARAVAN.SPACE", "SET", "m/", "durability", "memory");
        client.call("CARAVAN.SPACE", "SET", "p/", "durability", "process");
        long before = fsyncCount();
        client.call("MULTI");
        client.call("RPUSH", "m/a", "1");
        client.call("RPUSH", "p/a", "1");
        assertThat(client.call("EXEC")).isEqualTo("[:1, :1]");
        assertThat(fsyncCount()).isEqualTo(before);
        client.call("MULTI");
        client.call("RPUSH", "m/a", "1");
        client.call("RPUSH", "s/a", "1");
        assertThat(client.call("EXEC")).isEqualTo("[:2, :1]");
        assertThat(fsyncCount()).isEqualTo(before + 1);
        assertDurability("process", server.http("POST", "/v1/batch", """
                {"operations": [{"path": "/v1/stream/m/a", "append": ["2"]}, {"path": "/v1/stream/p/a", "append": ["2"]}]}"""));
    }

    @Test
    void delayedWritesShareFsyncOfUndelayedWrite() throws Exception {
        start(Durability.SYNC);
        client.call("CARAVAN.SPACE", "SET", "w/", "flush-delay", "60000");
        client.call("CARAVAN.SPACE", "SET", "w/less/", "flush-delay", "50000");
        long before = fsyncCount();
        try (RespClient longestDelay = server.connect();
                RespClient shorterDelay = server.connect()) {
            awaitAccepted(() -> longestDelay.send("RPUSH", "w/a", "1"));
            shorterDelay.send("MULTI");
            shorterDelay.send("RPUSH", "w/less/a", "1");
            shorterDelay.send("RPUSH", "w/b", "1");
            awaitAccepted(() -> shorterDelay.send("EXEC"));
            assertThat(client.call("RPUSH", "other", "1")).isEqualTo(":1");
            assertThat(longestDelay.read()).isEqualTo(":1");
            assertThat(List.of(shorterDelay.read(), shorterDelay.read(), shorterDelay.read(), shorterDelay.read()))
                    .containsExactly("+OK", "+QUEUED", "+QUEUED", "[:1, :1]");
        }
        assertThat(fsyncCount()).isEqualTo(before + 1);
    }

    /** Sends a write, and waits until the store has accepted it. */
    private void awaitAccepted(Sending change) throws IOException {
        long before = store.stats().appends();
        change.send();
        Eventually.await("the store has it", () -> store.stats().appends() > before);
    }

    private interface Sending {
        void send() throws IOException;
    }

    @Test
    void transactionWithUndelayedWriteIsNotDelayed() throws Exception {
        start(Durability.SYNC);
        client.call("CARAVAN.SPACE", "SET", "w/", "flush-delay", "60000");
        client.call("MULTI");
        client.call("RPUSH", "w/a", "1");
        client.call("RPUSH", "other", "1");
        assertThat(client.call("EXEC")).isEqualTo("[:1, :1]");
        assertThat(client.call("CARAVAN.SPACE", "SET", "w/", "flush-delay", "60001"))
                .isEqualTo("-ERR flush-delay must be from 1 to 60000, or 0 to unset it, was 60001");
        client.call("CARAVAN.SPACE", "SET", "w/", "flush-delay", "1");
        assertThat(client.call("RPUSH", "w/a", "2")).isEqualTo(":2");
    }

    /** A space's earlier writes must have the new, higher durability before the server acknowledges the setting. */
    @Test
    void raisingDurabilityFsyncsEarlierWrites() throws Exception {
        start(Durability.SYNC);
        client.call("CARAVAN.SPACE", "SET", "m/", "durability", "memory", "max-values", "10");
        client.call("RPUSH", "m/a", "value");
        assertThat(fsyncsOf("CARAVAN.SPACE", "SET", "m/", "durability", "0")).isPositive();
        assertThat(fsyncsOf("RPUSH", "m/a", "value")).isEqualTo(1);
        assertThat(client.call("CARAVAN.SPACE", "GET", "m/")).contains("$effective-durability, $sync");
        client.call("CARAVAN.SPACE", "SET", "m/", "durability", "memory");
        client.call("RPUSH", "m/a", "value");
        assertThat(fsyncsOf("CARAVAN.SPACE", "REMOVE", "m/")).isPositive();
        assertThat(fsyncsOf("RPUSH", "m/a", "value")).isEqualTo(1);
    }

    @Test
    void rejectsDurabilityAboveServerLevel() throws Exception {
        start(Durability.PROCESS);
        assertThat(client.call("CARAVAN.SPACE", "SET", "a/", "durability", "sync"))
                .isEqualTo("-ERR durability cannot be sync here: the server offers at most process;"
                        + " start it with --durability sync");
        assertThat(client.call("CARAVAN.SPACE", "SET", "a/", "durability", "replicated"))
                .isEqualTo("-ERR durability cannot be replicated here: the server is not part of a cluster");
        assertThat(client.call("CARAVAN.SPACE", "SET", "a/", "durability", "eternal"))
                .isEqualTo("-ERR durability must be memory, process, sync, replicated, or 0 to unset it");
        assertThat(server.http("PUT", "/v1/spaces/a/", "{\"durability\": 1}").statusCode())
                .isEqualTo(400);
        assertThat(server.http("PUT", "/v1/spaces/a/", "{\"durability\": \"sync\"}")
                        .statusCode())
                .isEqualTo(400);
        assertThat(client.call("CARAVAN.SPACE", "LIST")).isEqualTo("[]");
        assertDurability("", server.http("PUT", "/v1/spaces/a/", "{\"durability\": \"process\"}"));
    }

    /** A server with a lower durability than a space requests must keep the setting and report its own durability. */
    @Test
    void reportsEffectiveDurabilityOfWeakerServer() throws Exception {
        start(Durability.SYNC);
        client.call("CARAVAN.SPACE", "SET", "a/", "durability", "sync");
        stop();
        start(Durability.PROCESS);
        assertThat(client.call("CARAVAN.SPACE", "GET", "a/"))
                .contains("$durability, $sync", "$effective-durability, $process");
        assertThat(client.call("CARAVAN.SPACE", "SET", "a/", "max-values", "3")).contains("$durability, $sync");
        assertThat(fsyncsOf("RPUSH", "a/a", "value")).isZero();
        assertThat(client.call("CARAVAN.INFO", "a/a")).contains("$durability, $process");
    }
}
