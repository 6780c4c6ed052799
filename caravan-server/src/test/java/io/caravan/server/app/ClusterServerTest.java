package io.caravan.server.app;

import static io.caravan.server.app.TestCluster.awaitFollows;
import static io.caravan.server.app.TestCluster.get;
import static io.caravan.server.app.TestCluster.send;
import static io.caravan.server.app.TestCluster.status;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.DurableListStore;
import io.caravan.StoreFailedException;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.Slots;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.Eventually;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.HostAndPort;

/** Tests a cluster of three nodes as clients of each node see it, before and after a leader change. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterServerTest {

    @TempDir
    private static Path directory;

    @AutoClose
    private static TestCluster cluster;

    @BeforeAll
    static void start() throws IOException {
        cluster = new TestCluster(directory);
    }

    @Test
    void followerRedirectsClientsToLeader() throws Exception {
        ClusterNode leader = cluster.awaitLeader();
        ClusterNode follower = cluster.follower();
        int slot = Slots.of("k".getBytes(UTF_8));
        assertThat(cluster.call(follower, "RPUSH", "k", "v")).isEqualTo("-MOVED " + slot + " " + leader.resp());
        assertThat(cluster.call(follower, "LRANGE", "k", "0", "-1")).isEqualTo("-MOVED " + slot + " " + leader.resp());
        assertThat(cluster.call(follower, "SCAN", "0"))
                .startsWith("-ERR this node is a follower: send the command to the leader, node " + leader.id());
        assertThat(cluster.call(follower, "SAVE")).startsWith("-ERR this node is a follower");
        assertThat(cluster.call(follower, "PING")).isEqualTo("+PONG");
        assertThat(cluster.call(follower, "READONLY")).isEqualTo("+OK");
        assertThat(cluster.call(follower, "CLUSTER", "COUNTKEYSINSLOT", "0"))
                .startsWith("-ERR this node is a follower");
        try (RespClient client = cluster.connect(follower)) {
            assertThat(client.call("MULTI")).isEqualTo("+OK");
            assertThat(client.call("RPUSH", "k", "v")).startsWith("-MOVED");
            assertThat(client.call("EXEC")).startsWith("-EXECABORT");
        }
    }

    /** The server must propagate a store failure to its caller, which decides whether the node stays in the group. */
    @Test
    void reportsFailedStoreToMember() throws Exception {
        ClusterNode node = cluster.follower();
        ClusterServer server = cluster.server(node.id());
        DurableListStore failed = (DurableListStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DurableListStore.class}, (store, method, arguments) -> {
                    throw new StoreFailedException("the store", new IOException("made to fail"));
                });
        assertThatThrownBy(() -> server.leads(failed)).isInstanceOf(StoreFailedException.class);
        server.follows();
        assertThat(cluster.call(node, "RPUSH", "k", "v")).startsWith("-MOVED");
    }

    @Test
    void everyNodeReportsLeaderAndRoles() throws Exception {
        ClusterNode leader = cluster.awaitLeader();
        for (ClusterNode node : cluster.nodes()) {
            boolean leads = node.equals(leader);
            assertThat(cluster.call(node, "CLUSTER", "SLOTS"))
                    .startsWith("[[:0, :16383, [$127.0.0.1, :" + leader.resp().port() + ",");
            assertThat(cluster.call(node, "CLUSTER", "NODES"))
                    .contains(leader.resp() + "@" + leader.peer().port())
                    .contains(" 0-16383");
            assertThat(cluster.call(node, "CLUSTER", "INFO")).contains("cluster_state:ok", "cluster_known_nodes:3");
            assertThat(cluster.call(node, "CLUSTER", "SHARDS")).contains("$master", "$replica");
            assertThat(cluster.call(node, "CLUSTER", "KEYSLOT", "foo")).isEqualTo(":12182");
            assertThat(cluster.call(node, "CLUSTER", "MYID")).hasSize(41);
            assertThat(cluster.call(node, "ROLE")).startsWith(leads ? "[$master" : "[$slave, $127.0.0.1, :");
            assertThat(cluster.call(node, "INFO"))
                    .contains(
                            "cluster_enabled:1",
                            "redis_mode:cluster",
                            "role:" + (leads ? "master" : "slave"),
                            "cluster_leader:" + leader.id());
            assertThat(cluster.call(node, "HELLO", "3")).contains("$mode: $cluster");
            assertThat(get(node, "/readyz").body())
                    .contains("\"ready\"", "\"leader\":\"" + leader.id() + "\"", leads ? "leader" : "follower");
            assertThat(get(node, "/v1/cluster").body()).contains("\"nodes\":[", "\"leader\":\"" + leader.id() + "\"");
            assertThat(get(node, "/metrics").body()).contains("caravan_cluster_leads " + (leads ? "1.0" : "0.0"));
        }
    }

    @Test
    void leaderServesCommandsAndRejectsInvalidTransfers() throws Exception {
        ClusterNode leader = cluster.awaitLeader();
        assertThat(cluster.call(leader, "RPUSH", "alone", "a", "b")).isEqualTo(":2");
        assertThat(cluster.call(leader, "WAIT", "1", "100")).isEqualTo(":1");
        assertThat(cluster.call(leader, "LRANGE", "alone", "0", "-1")).isEqualTo("[$a, $b]");
        assertThat(cluster.call(leader, "DEL", "alone", "other")).startsWith("-CROSSSLOT");
        assertThat(cluster.call(leader, "DEL", "{alone}1", "{alone}2")).isEqualTo(":0");
        int slot = Slots.of("alone".getBytes(UTF_8));
        assertThat(cluster.call(leader, "CLUSTER", "COUNTKEYSINSLOT", String.valueOf(slot)))
                .isEqualTo(":1");
        assertThat(cluster.call(leader, "CARAVAN.CLUSTER", "TRANSFER", leader.id()))
                .startsWith("-ERR node " + leader.id() + " already leads");
        assertThat(cluster.call(leader, "CARAVAN.CLUSTER", "TRANSFER", "z"))
                .startsWith("-ERR the cluster has no node 'z'");
    }

    @Test
    void anyNodeServesHttpRequests() throws Exception {
        ClusterNode leader = cluster.awaitLeader();
        ClusterNode follower = cluster.follower();
        HttpResponse<String> created = send(follower, "PUT", "/v1/stream/relayed?x=1", "one ");
        assertThat(created.statusCode()).isEqualTo(201);
        assertThat(created.headers().firstValue("Location").orElseThrow()).contains(follower.http() + "/v1/stream");
        assertThat(status(follower, "POST", "/v1/stream/relayed", "two")).isEqualTo(204);
        for (ClusterNode node : cluster.nodes()) {
            HttpResponse<String> read = get(node, "/v1/stream/relayed?offset=-1");
            assertThat(read.statusCode()).isEqualTo(200);
            assertThat(read.body()).isEqualTo("one two");
            assertThat(status(node, "HEAD", "/v1/stream/relayed", "")).isEqualTo(200);
            assertThat(get(node, "/v1/stream/absent").statusCode()).isEqualTo(404);
        }
        String etag =
                get(leader, "/v1/stream/relayed").headers().firstValue("ETag").orElseThrow();
        HttpResponse<String> unchanged = send(follower, "GET", "/v1/stream/relayed", "", "If-None-Match", etag);
        assertThat(unchanged.statusCode()).isEqualTo(304);
    }

    @Test
    void documentedClusterCommandsExist() throws Exception {
        String table = Files.readString(Path.of("../docs/reference/resp.md"))
                .split("### In a cluster")[1]
                .split("### Authentication")[0];
        List<String> documented = table.lines()
                .filter(line -> line.startsWith("| `"))
                .flatMap(line -> Pattern.compile("`([A-Z.]+)")
                        .matcher(line.split("\\|")[1])
                        .results())
                .map(found -> found.group(1))
                .distinct()
                .toList();
        String listed = cluster.call(cluster.awaitLeader(), "COMMAND", "LIST");
        assertThat(documented)
                .contains("CLUSTER", "CARAVAN.CLUSTER")
                .allSatisfy(name -> assertThat(listed).contains("$" + name.toLowerCase(Locale.ROOT)));
    }

    @Test
    void followerDoesNotRelayRelayedRequest() throws Exception {
        HttpResponse<String> response = send(cluster.follower(), "GET", "/v1/documents", "", "Caravan-Relayed", "x");
        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.body()).contains("no_leader");
    }

    @Test
    void clusterClientsFollowLeaderChange() throws Exception {
        ClusterNode next = cluster.follower();
        RedisURI seed = RedisURI.create(next.resp().host(), next.resp().port());
        RedisClusterClient lettuce = RedisClusterClient.create(seed);
        lettuce.setOptions(ClusterClientOptions.builder()
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .enableAllAdaptiveRefreshTriggers()
                        .build())
                .build());
        Set<HostAndPort> nodes =
                Set.of(new HostAndPort(next.resp().host(), next.resp().port()));
        try (StatefulRedisClusterConnection<String, String> connection = lettuce.connect();
                var jedis = redis.clients.jedis.RedisClusterClient.builder()
                        .nodes(nodes)
                        .build()) {
            assertThat(connection.sync().rpush("kept", "by lettuce")).isEqualTo(1);
            assertThat(jedis.rpush("kept", "by jedis")).isEqualTo(2);

            cluster.lead(next);

            assertThat(jedis.lrange("kept", 0, -1)).containsExactly("by lettuce", "by jedis");
            assertThat(connection.sync().lrange("kept", 0, -1)).containsExactly("by lettuce", "by jedis");
        } finally {
            lettuce.shutdown();
        }
    }

    @Test
    void drainedNodeDoesNotLeadUntilDrainEnds() throws Exception {
        ClusterNode first = cluster.awaitLeader();
        assertThat(cluster.call(first, "CARAVAN.CLUSTER", "DRAIN", "MAYBE")).startsWith("-ERR syntax error");
        cluster.changeLeader(first, "DRAIN", "ON");
        Eventually.await("another node leads", () -> {
            if (cluster.awaitLeader().equals(first)) {
                // Leadership was not transferred in time.
                cluster.changeLeader(first, "DRAIN", "ON");
            }
            return !cluster.awaitLeader().equals(first);
        });
        awaitFollows(first);
        assertThat(cluster.call(first, "INFO", "cluster")).contains("cluster_drained:1");

        long term = cluster.view(first.id()).term();
        Eventually.await("it was elected, and another after it", () -> {
            if (cluster.view(first.id()).term() == term) {
                cluster.changeLeader(cluster.awaitLeader(), "TRANSFER", first.id());
            }
            return cluster.view(first.id()).term() > term + 1;
        });
        assertThat(cluster.awaitLeader()).isNotEqualTo(first);
        awaitFollows(first);

        assertThat(cluster.call(first, "CARAVAN.CLUSTER", "DRAIN", "OFF")).isEqualTo("+OK");
        cluster.lead(first);
    }

    @Test
    void liveReadEndsOnLeaderChangeAndCanResume() throws Exception {
        ClusterNode first = cluster.awaitLeader();
        ClusterNode target = cluster.follower();
        assertThat(status(target, "PUT", "/v1/stream/live", "1")).isEqualTo(201);
        String offset = get(target, "/v1/stream/live")
                .headers()
                .firstValue("Stream-Next-Offset")
                .orElseThrow();
        HttpRequest live = TestCluster.request(target, "/v1/stream/live?live=sse&offset=" + offset)
                .build();
        try (InputStream events = TestCluster.HTTP
                .send(live, HttpResponse.BodyHandlers.ofInputStream())
                .body()) {
            BufferedReader lines = new BufferedReader(new InputStreamReader(events, UTF_8));
            assertThat(status(target, "POST", "/v1/stream/live", "2")).isEqualTo(204);
            String line = lines.readLine();
            while (!line.equals("data:2")) {
                line = lines.readLine();
            }
            cluster.lead(other(first, target));
            while (line != null) {
                line = readOrEnd(lines);
            }
        }
        TestCluster.write(target, "/v1/stream/live", "3");
        assertThat(get(target, "/v1/stream/live?offset=" + offset).body()).matches("23+");
    }

    private static String readOrEnd(BufferedReader lines) {
        try {
            return lines.readLine();
        } catch (IOException cut) {
            return null;
        }
    }

    @Test
    void tailContinuesAtNextLeader() throws Exception {
        ClusterNode first = cluster.awaitLeader();
        ClusterNode next = cluster.follower();
        ClusterNode named = other(first, next);
        assertThat(cluster.call(first, "RPUSH", "followed", "a")).isEqualTo(":1");
        CommandRun tail = CommandRun.with(Map.of(), new byte[0]);
        CompletableFuture<CommandRun> run = CompletableFuture.supplyAsync(
                () -> tail.run(named.resp().toString(), "tail", "followed", "--from", "0", "--count", "2"));
        Eventually.await("the first value is printed", () -> tail.out().equals("a\n"));
        cluster.lead(next);
        assertThat(cluster.call(next, "RPUSH", "followed", "b")).isEqualTo(":2");
        run.join().exits(0);
        assertThat(tail.out()).isEqualTo("a\nb\n");
    }

    @Test
    void stoppedLeaderIsReplacedAndRejoinsAsFollower() throws Exception {
        ClusterNode leader = cluster.awaitLeader();
        assertThat(cluster.call(leader, "RPUSH", "across", "a stop")).isEqualTo(":1");
        cluster.stop(leader.id());
        ClusterNode next = cluster.awaitLeader();
        assertThat(next).isNotEqualTo(leader);
        assertThat(cluster.call(next, "LRANGE", "across", "0", "-1")).isEqualTo("[$a stop]");
        cluster.restart(leader.id());
        cluster.awaitLeader();
        assertThat(cluster.call(leader, "RPUSH", "across", "x")).startsWith("-MOVED");
    }

    @Test
    @Tag("slow")
    void rejectsWritesUntilMajorityReturns() throws Exception {
        ClusterNode leader = cluster.awaitLeader();
        ClusterNode stopped = cluster.follower();
        ClusterNode left = other(leader, stopped);
        loseMajority(leader, stopped, left);
        assertThat(cluster.call(left, "RPUSH", "k", "v")).startsWith("-CLUSTERDOWN The cluster has no leader");
        assertThat(cluster.call(left, "CLUSTER", "INFO")).contains("cluster_state:fail");
        assertThat(get(left, "/readyz").statusCode()).isEqualTo(503);
        assertThat(get(left, "/v1/documents").body()).contains("no_leader");
        cluster.restartAll(List.of(leader, stopped));
        assertThat(cluster.call(cluster.awaitLeader(), "RPUSH", "k", "v")).isEqualTo(":1");
    }

    private static ClusterNode other(ClusterNode first, ClusterNode second) {
        return cluster.nodes().stream()
                .filter(node -> !List.of(first, second).contains(node))
                .findFirst()
                .orElseThrow();
    }

    private static void loseMajority(ClusterNode leader, ClusterNode follower, ClusterNode left) throws IOException {
        cluster.stop(leader.id());
        cluster.stop(follower.id());
        Eventually.await(
                "the remaining node knows no leader",
                () -> cluster.view(left.id()).leader().isEmpty());
        awaitFollows(left);
    }

    @Test
    void requestWithoutLeaderWaitsForElection() throws Exception {
        ClusterNode leader = cluster.awaitLeader();
        assertThat(cluster.call(leader, "RPUSH", "held", "v")).isEqualTo(":1");
        ClusterNode stopped = cluster.follower();
        ClusterNode left = other(leader, stopped);
        // Prevents the election of this node, which would close the connections that it accepted as a follower.
        cluster.view(left.id()).drain(true);
        try (TestCluster.StoppedClock clock = cluster.stopClock()) {
            // Records the current leader in the view of this node: in another test, its last record may have been that
            // no node leads.
            cluster.view(left.id()).group().since();
            loseMajority(leader, stopped, left);
            CompletableFuture<HttpResponse<String>> response = TestCluster.HTTP.sendAsync(
                    TestCluster.request(left, "/v1/stream/held").build(), BodyHandlers.ofString());
            cluster.restartAll(List.of(leader, stopped));
            assertThat(response.get().body()).isEqualTo("v");
        }
        cluster.view(left.id()).drain(false);
    }
}
