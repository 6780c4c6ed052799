package io.caravan.server.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.ShardedStore;
import io.caravan.server.cluster.Slots;
import io.caravan.server.protocol.http.HttpConfig;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.server.protocol.resp.RespLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests a server with several shards as RESP and HTTP clients see it. */
class ShardedServerTest {
    private static final int SHARDS = 4;
    private static final int MAX_BODY_BYTES = 64 * 1024;

    private final List<FullStore> shards =
            Stream.generate(FullStore::new).limit(SHARDS).toList();
    /** The same shards, which can also delay writes. */
    private final List<DelayedStore> delaying =
            shards.stream().map(DelayedStore::new).toList();

    private Server server;
    private RespClient client;

    @BeforeEach
    void start() throws IOException {
        serve();
    }

    private void serve() throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        ListStore store = new ShardedStore(delaying);
        server = Server.start(
                store,
                new ServerConfig(any, new RespLimits(MAX_BODY_BYTES, MAX_BODY_BYTES), Durability.MEMORY)
                        .withHttp(HttpConfig.of(any, MAX_BODY_BYTES, 8 << 20)));
        client = new RespClient(server.respAddress());
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
    }

    private void again() throws IOException {
        stop();
        serve();
    }

    private HttpResponse<String> http(String method, String path, String body) throws Exception {
        return ServerFixture.http(server, method, path, body);
    }

    private static int group(String name) {
        return Slots.group(name.getBytes(UTF_8), SHARDS);
    }

    /** Returns document names in the hash slots of this shard. */
    private static Stream<String> namesIn(int group) {
        return Stream.iterate(0, number -> number + 1)
                .map(number -> "document-" + number)
                .filter(name -> group(name) == group);
    }

    private static String in(int group) {
        return namesIn(group).findFirst().orElseThrow();
    }

    private void replies(String expected, String... words) throws IOException {
        client.replies(expected, words);
    }

    @Test
    void documentsAreStoredByHashSlotAndFoundAfterRestart() throws Exception {
        for (int i = 0; i < 200; i++) {
            replies(":1", "RPUSH", "document-" + i, "value " + i);
        }
        int[] expected = new int[SHARDS];
        for (int i = 0; i < 200; i++) {
            expected[group("document-" + i)]++;
        }
        for (int group = 0; group < SHARDS; group++) {
            assertThat(shards.get(group).read(0)).hasSize(expected[group]).hasSizeGreaterThan(20);
        }
        again();
        for (int i = 0; i < 200; i++) {
            replies("[$value " + i + "]", "LRANGE", "document-" + i, "0", "-1");
        }
        replies(":200", "DBSIZE");
    }

    @Test
    void listingsCoverAllShards() throws Exception {
        for (int i = 0; i < 100; i++) {
            replies(":1", "RPUSH", "document-" + i, "a");
        }
        Set<String> scanned = new HashSet<>();
        int found = 0;
        String cursor = "0";
        do {
            String reply = client.call("SCAN", cursor, "COUNT", "7");
            cursor = reply.substring(2, reply.indexOf(','));
            for (String name : reply.substring(reply.indexOf('[', 1) + 1).split("[\\[\\], $]+")) {
                found += name.isEmpty() ? 0 : 1;
                scanned.add(name);
            }
        } while (!cursor.equals("0"));
        scanned.remove("");
        assertThat(scanned).hasSize(100);
        assertThat(found).isEqualTo(100);
        assertThat(client.call("KEYS", "document-1?").split(", ")).hasSize(10);
        assertThat(http("GET", "/v1/documents?limit=1000", "").body().split("\"path\"", -1))
                .hasSize(101);
    }

    @Test
    void rejectsWriteAcrossShardsWithoutChange() throws Exception {
        String one = in(0);
        String other = in(3);
        replies(":1", "RPUSH", one, "a");
        replies(":1", "RPUSH", other, "a");
        assertThat(client.call("DEL", one, other))
                .startsWith("-CROSSSLOT document '" + other + "' is in another shard");
        replies(":2", "EXISTS", one, other);
        replies("+OK", "MULTI");
        replies("+QUEUED", "RPUSH", one, "b");
        replies("+QUEUED", "RPUSH", other, "b");
        assertThat(client.call("EXEC")).startsWith("-CROSSSLOT ");
        replies("[$a]", "LRANGE", one, "0", "-1");
        String change = "{\"path\":\"/v1/stream/%s\",\"append\":[\"b\"]}".formatted(one);
        String changes = "{\"operations\":[" + change + "," + change.replace(one, other) + "]}";
        HttpResponse<String> batch = http("POST", "/v1/batch", changes);
        assertThat(batch.statusCode()).as(batch.body()).isEqualTo(409);
        assertThat(batch.body()).contains("\"code\":\"cross_slot\"");
        replies("[$a]", "LRANGE", other, "0", "-1");
        assertThat(client.call("BLPOP", in(1), in(2), "0")).startsWith("-CROSSSLOT ");
    }

    @Test
    void transactionWritesDocumentsOfSameShard() throws Exception {
        replies("+OK", "MULTI");
        replies("+QUEUED", "RPUSH", "{a}1", "x");
        replies("+QUEUED", "RPUSH", "{a}2", "y");
        replies("[:1, :1]", "EXEC");
        replies(":2", "DEL", "{a}1", "{a}2");
        // The names are in different slots of the same shard.
        String first = in(2);
        String second = namesIn(2).skip(1).findFirst().orElseThrow();
        replies("+OK", "MULTI");
        replies("+QUEUED", "RPUSH", first, "x");
        replies("+QUEUED", "RPUSH", second, "y");
        replies("[:1, :1]", "EXEC");
    }

    @Test
    void spaceQuotaAppliesAcrossShards() throws Exception {
        client.call("CARAVAN.SPACE", "SET", "document-", "quota-documents", "10");
        for (int i = 0; i < 10; i++) {
            replies(":1", "RPUSH", "document-" + i, "a");
        }
        assertThat(client.call("RPUSH", "document-10", "a")).startsWith("-QUOTA ");
        again();
        assertThat(client.call("RPUSH", "document-11", "a")).startsWith("-QUOTA ");
        assertThat(client.call("CARAVAN.SPACE", "GET", "document-")).contains("$documents, :10");
    }

    @Test
    void documentsExpireInAllShards() throws Exception {
        for (int i = 0; i < 40; i++) {
            replies(":1", "RPUSH", "document-" + i, "a");
            replies(":1", "PEXPIRE", "document-" + i, "1");
        }
        client.await(":0"::equals, "EXISTS", in(0), in(1), in(2), in(3));
    }

    @Test
    void fullShardRejectsWritesWhileOthersAccept() throws Exception {
        shards.get(1).full = true;
        assertThat(client.call("RPUSH", in(1), "a")).startsWith("-OOM ");
        replies(":1", "RPUSH", in(2), "a");
        assertThat(client.call("INFO", "persistence")).contains("store_state:full");
        shards.get(1).full = false;
        replies(":1", "RPUSH", in(1), "a");
        assertThat(client.call("INFO", "persistence")).contains("store_state:ok", "shards:4");
    }

    @Test
    void shardWithoutSpaceDelaysOnlyItsOwnWrites() throws Exception {
        String value = "v".repeat(20_000);
        String array = "[\"" + value + "\"]";
        replies(":2", "RPUSH", in(2), value, value);
        delaying.get(1).takeSpace();
        try (RespClient one = new RespClient(server.respAddress());
                RespClient several = new RespClient(server.respAddress())) {
            one.send("RPUSH", in(1), "a");
            one.send("RPUSH", in(2), "after");
            delaying.get(1).awaitWaiters(1);
            several.replies("+OK", "MULTI");
            several.replies("+QUEUED", "RPUSH", namesIn(1).skip(1).findFirst().orElseThrow(), "b");
            several.send("EXEC");
            delaying.get(1).awaitWaiters(2);

            replies("$" + value, "LPOP", in(2));
            replies("[$" + in(2) + ", $" + value + "]", "BLPOP", in(2), "0");
            replies(":1", "RPUSH", in(2), "a");
            replies("+OK", "MULTI");
            replies("+QUEUED", "RPUSH", in(2), "b");
            replies("[:2]", "EXEC");
            String stream = "/v1/stream/" + in(3);
            assertThat(http("PUT", stream, "").statusCode()).isEqualTo(201);
            assertThat(http("POST", stream, "a").statusCode()).isEqualTo(204);
            String json = "/v1/stream/" + namesIn(3).skip(1).findFirst().orElseThrow();
            String[] type = {"Content-Type", "application/json"};
            assertThat(ServerFixture.http(server, "PUT", json, array, type).statusCode())
                    .isEqualTo(201);
            assertThat(ServerFixture.http(server, "POST", json, array, type).statusCode())
                    .isEqualTo(204);
            replies("[$a, $b]", "LRANGE", in(2), "0", "-1");
            replies(":0", "LLEN", in(1));

            delaying.get(1).freeSpace();
            assertThat(one.read()).isEqualTo(":1");
            assertThat(one.read()).isEqualTo(":3");
            assertThat(several.read()).isEqualTo("[:1]");
        }
    }

    @Test
    void pipelinedWritesToSeveralShardsReplyInOrder() throws Exception {
        for (int i = 0; i < 200; i++) {
            client.send("RPUSH", "document-" + i % 20, "value");
        }
        for (int i = 0; i < 200; i++) {
            assertThat(client.read()).isEqualTo(":" + (1 + i / 20));
        }
    }

    @Test
    void reportsLayoutOfEachShard() throws Exception {
        HttpResponse<String> last = http("GET", "/v1/store?shard=3", "");
        assertThat(last.body()).contains("\"shard\":3", "\"shards\":4");
        assertThat(http("GET", "/v1/store", "").body()).contains("\"shard\":0");
        assertThat(http("GET", "/v1/store?shard=4", "").statusCode()).isEqualTo(400);
        assertThat(http("GET", "/v1/stats", "").statusCode()).isEqualTo(200);
        assertThat(http("GET", "/metrics", "").body()).contains("caravan_store_shards 4.0");
    }
}
