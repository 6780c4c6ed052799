package io.caravan.server.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cluster.ClusterHost;
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
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.HostAndPort;

/** A cluster of three nodes from the point of view of clients, on every node and after a change of the leader. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterServerTest {
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    @TempDir
    private static Path directory;

    @AutoClose
    private static TestCluster cluster;

    @BeforeAll
    static void start() throws IOException {
        cluster = new TestCluster(directory);
    }

    private static String call(ClusterHost host, String... words) throws IOException {
        try (RespClient client = cluster.connect(host)) {
            return client.call(words);
        }
    }

    private static HttpRequest.Builder request(ClusterHost host, String path) {
        return HttpRequest.newBuilder(URI.create("http://" + host.http() + path))
                .timeout(Duration.ofSeconds(30));
    }

    private static HttpResponse<String> get(ClusterHost host, String path) throws Exception {
        return answer(request(host, path).build());
    }

    /** Sends a request. Retries while the node refuses connections because its role is changing. */
    private static HttpResponse<String> answer(HttpRequest request) throws Exception {
        for (int attempt = 1; ; attempt++) {
            try {
                return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
            } catch (ConnectException changing) {
                assertThat(attempt)
                        .as("attempts to connect to " + request.uri())
                        .isLessThan(100);
                TimeUnit.MILLISECONDS.sleep(20);
            }
        }
    }

    private static HttpResponse<String> send(ClusterHost host, String method, String path, String body)
            throws Exception {
        return answer(request(host, path)
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .header("Content-Type", "text/plain")
                .build());
    }

    @Test
    void aFollowerSendsClientsToTheLeader() throws Exception {
        ClusterHost leader = cluster.awaitLeader();
        ClusterHost follower = cluster.follower();
        int slot = Slots.of("k".getBytes(UTF_8));
        assertThat(call(follower, "RPUSH", "k", "v")).isEqualTo("-MOVED " + slot + " " + leader.resp());
        assertThat(call(follower, "LRANGE", "k", "0", "-1")).isEqualTo("-MOVED " + slot + " " + leader.resp());
        assertThat(call(follower, "SCAN", "0")).startsWith("-ERR this host follows: ask host " + leader.id());
        assertThat(call(follower, "SAVE")).startsWith("-ERR this host follows");
        assertThat(call(follower, "PING")).isEqualTo("+PONG");
        assertThat(call(follower, "READONLY")).isEqualTo("+OK");
        assertThat(call(follower, "CLUSTER", "COUNTKEYSINSLOT", "0")).startsWith("-ERR this host follows");
        try (RespClient client = cluster.connect(follower)) {
            assertThat(client.call("MULTI")).isEqualTo("+OK");
            assertThat(client.call("RPUSH", "k", "v")).startsWith("-MOVED");
            assertThat(client.call("EXEC")).startsWith("-EXECABORT");
        }
    }

    @Test
    void everyHostTellsWhoIsWho() throws Exception {
        ClusterHost leader = cluster.awaitLeader();
        for (ClusterHost host : cluster.hosts()) {
            boolean leads = host.equals(leader);
            assertThat(call(host, "CLUSTER", "SLOTS"))
                    .startsWith("[[:0, :16383, [$127.0.0.1, :" + leader.resp().port() + ",");
            assertThat(call(host, "CLUSTER", "NODES"))
                    .contains(leader.resp() + "@" + leader.peer().port())
                    .contains(" 0-16383");
            assertThat(call(host, "CLUSTER", "INFO")).contains("cluster_state:ok", "cluster_known_nodes:3");
            assertThat(call(host, "CLUSTER", "SHARDS")).contains("$master", "$replica");
            assertThat(call(host, "CLUSTER", "KEYSLOT", "foo")).isEqualTo(":12182");
            assertThat(call(host, "CLUSTER", "MYID")).hasSize(41);
            assertThat(call(host, "ROLE")).startsWith(leads ? "[$master" : "[$slave, $127.0.0.1, :");
            assertThat(call(host, "INFO"))
                    .contains(
                            "cluster_enabled:1",
                            "redis_mode:cluster",
                            "role:" + (leads ? "master" : "slave"),
                            "cluster_leader:" + leader.id());
            assertThat(call(host, "HELLO", "3")).contains("$mode: $cluster");
            assertThat(get(host, "/readyz").body())
                    .contains("\"ready\"", "\"leader\":\"" + leader.id() + "\"", leads ? "leader" : "follower");
            assertThat(get(host, "/v1/cluster").body()).contains("\"hosts\":[", "\"leader\":\"" + leader.id() + "\"");
            assertThat(get(host, "/metrics").body()).contains("caravan_cluster_leads " + (leads ? "1.0" : "0.0"));
        }
    }

    @Test
    void theLeaderDoesEverythingThatAServerAloneDoes() throws Exception {
        ClusterHost leader = cluster.awaitLeader();
        assertThat(call(leader, "RPUSH", "alone", "a", "b")).isEqualTo(":2");
        assertThat(call(leader, "WAIT", "1", "100")).isEqualTo(":1");
        assertThat(call(leader, "LRANGE", "alone", "0", "-1")).isEqualTo("[$a, $b]");
        assertThat(call(leader, "DEL", "alone", "other")).startsWith("-CROSSSLOT");
        assertThat(call(leader, "DEL", "{alone}1", "{alone}2")).isEqualTo(":0");
        int slot = Slots.of("alone".getBytes(UTF_8));
        assertThat(call(leader, "CLUSTER", "COUNTKEYSINSLOT", String.valueOf(slot)))
                .isEqualTo(":1");
        assertThat(call(leader, "CARAVAN.TRANSFER", leader.id())).startsWith("-ERR host " + leader.id() + " leads");
        assertThat(call(leader, "CARAVAN.TRANSFER", "z")).startsWith("-ERR the cluster has no host 'z'");
    }

    @Test
    void anyHostAnswersOverHttp() throws Exception {
        ClusterHost leader = cluster.awaitLeader();
        ClusterHost follower = cluster.follower();
        HttpResponse<String> created = send(follower, "PUT", "/v1/stream/relayed?x=1", "one ");
        assertThat(created.statusCode()).isEqualTo(201);
        assertThat(created.headers().firstValue("Location").orElseThrow()).contains(follower.http() + "/v1/stream");
        assertThat(send(follower, "POST", "/v1/stream/relayed", "two").statusCode())
                .isEqualTo(204);
        for (ClusterHost host : cluster.hosts()) {
            HttpResponse<String> read = get(host, "/v1/stream/relayed?offset=-1");
            assertThat(read.statusCode()).isEqualTo(200);
            assertThat(read.body()).isEqualTo("one two");
            assertThat(send(host, "HEAD", "/v1/stream/relayed", "").statusCode())
                    .isEqualTo(200);
            assertThat(get(host, "/v1/stream/absent").statusCode()).isEqualTo(404);
        }
        String etag =
                get(leader, "/v1/stream/relayed").headers().firstValue("ETag").orElseThrow();
        HttpResponse<String> unchanged = HTTP.send(
                request(follower, "/v1/stream/relayed")
                        .header("If-None-Match", etag)
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(unchanged.statusCode()).isEqualTo(304);
    }

    @Test
    void theCommandsOfAClusterAreThoseThatAreDocumented() throws Exception {
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
        String listed = call(cluster.awaitLeader(), "COMMAND", "LIST");
        assertThat(documented)
                .contains("CLUSTER", "CARAVAN.TRANSFER")
                .allSatisfy(name -> assertThat(listed).contains("$" + name.toLowerCase(Locale.ROOT)));
    }

    @Test
    void aHostThatIsSentARequestByAnotherDoesNotSendItOn() throws Exception {
        HttpResponse<String> answer = HTTP.send(
                request(cluster.follower(), "/v1/documents")
                        .header("Caravan-Relayed", "x")
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body()).contains("no_leader");
    }

    @Test
    void clusterClientsFindTheirWayAfterAChangeOfLeader() throws Exception {
        ClusterHost next = cluster.follower();
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
    void aHostThatIsDrainedDoesNotLeadUntilThatIsUndone() throws Exception {
        ClusterHost first = cluster.awaitLeader();
        assertThat(call(first, "CARAVAN.DRAIN", "MAYBE")).startsWith("-ERR say ON or OFF");
        assertThat(call(first, "CARAVAN.DRAIN", "ON")).isEqualTo("+OK");
        Eventually.await("another host leads", () -> !cluster.awaitLeader().id().equals(first.id()));
        assertThat(call(first, "INFO", "cluster")).contains("cluster_drained:1");

        long term = cluster.view(first.id()).term();
        askToLead(first);
        Eventually.await(
                "it was elected, and another after it",
                () -> cluster.view(first.id()).term() > term + 1);
        assertThat(cluster.awaitLeader()).isNotEqualTo(first);

        assertThat(call(first, "CARAVAN.DRAIN", "OFF")).isEqualTo("+OK");
        cluster.lead(first);
    }

    /** Asks for a transfer of leadership and ignores the reply, because the transfer may close the connection. */
    private static void askToLead(ClusterHost host) {
        try {
            call(cluster.awaitLeader(), "CARAVAN.TRANSFER", host.id());
        } catch (IOException ended) {
            System.out.println("leadership moved meanwhile: " + ended);
        }
    }

    @Test
    void aLiveReadEndsWithItsLeaderAndGoesOnWhereItStopped() throws Exception {
        ClusterHost first = cluster.awaitLeader();
        ClusterHost asked = cluster.follower();
        assertThat(send(asked, "PUT", "/v1/stream/live", "1").statusCode()).isEqualTo(201);
        String offset = get(asked, "/v1/stream/live")
                .headers()
                .firstValue("Stream-Next-Offset")
                .orElseThrow();
        HttpRequest live =
                request(asked, "/v1/stream/live?live=sse&offset=" + offset).build();
        try (InputStream events =
                HTTP.send(live, HttpResponse.BodyHandlers.ofInputStream()).body()) {
            BufferedReader lines = new BufferedReader(new InputStreamReader(events, UTF_8));
            assertThat(send(asked, "POST", "/v1/stream/live", "2").statusCode()).isEqualTo(204);
            String line = lines.readLine();
            while (!line.equals("data:2")) {
                line = lines.readLine();
            }
            ClusterHost other = cluster.hosts().stream()
                    .filter(host -> !List.of(first, asked).contains(host))
                    .findFirst()
                    .orElseThrow();
            cluster.lead(other);
            while (line != null) {
                line = readOrEnd(lines);
            }
        }
        cluster.awaitLeader();
        assertThat(send(asked, "POST", "/v1/stream/live", "3").statusCode()).isEqualTo(204);
        assertThat(get(asked, "/v1/stream/live?offset=" + offset).body()).isEqualTo("23");
    }

    private static String readOrEnd(BufferedReader lines) {
        try {
            return lines.readLine();
        } catch (IOException cut) {
            return null;
        }
    }

    @Test
    void aStoppedLeaderHandsOverAndComesBackAsAFollower() throws Exception {
        ClusterHost leader = cluster.awaitLeader();
        assertThat(call(leader, "RPUSH", "across", "a stop")).isEqualTo(":1");
        cluster.stop(leader.id());
        ClusterHost next = cluster.awaitLeader();
        assertThat(next).isNotEqualTo(leader);
        assertThat(call(next, "LRANGE", "across", "0", "-1")).isEqualTo("[$a stop]");
        cluster.restart(leader.id());
        cluster.awaitLeader();
        assertThat(call(leader, "RPUSH", "across", "x")).startsWith("-MOVED");
    }

    /**
     * Waits until the node serves as a follower. Before that, a former leader closes connections and rejects requests.
     */
    private static void awaitFollows(ClusterHost host) {
        HttpRequest relayed =
                request(host, "/v1/documents").header("Caravan-Relayed", "x").build();
        Eventually.await("host " + host.id() + " follows", () -> {
            try {
                HttpResponse<String> answer = HTTP.send(relayed, HttpResponse.BodyHandlers.ofString());
                return answer.headers().firstValue("Caravan-Relayed").isPresent();
            } catch (IOException ended) {
                return false;
            } catch (InterruptedException stopped) {
                throw new AssertionError(stopped);
            }
        });
    }

    @Test
    void withoutAMajorityWritesAreRefusedAtOnceAndComeBackWithIt() throws Exception {
        ClusterHost leader = cluster.awaitLeader();
        List<ClusterHost> others =
                cluster.hosts().stream().filter(host -> !host.equals(leader)).toList();
        ClusterHost left = others.get(1);
        cluster.stop(leader.id());
        cluster.stop(others.get(0).id());
        Eventually.await(
                "the host that is left knows no leader",
                () -> cluster.view(left.id()).leader().isEmpty());
        awaitFollows(left);
        assertThat(call(left, "RPUSH", "k", "v")).startsWith("-CLUSTERDOWN No host leads");
        assertThat(call(left, "CLUSTER", "INFO")).contains("cluster_state:fail");
        assertThat(get(left, "/readyz").statusCode()).isEqualTo(503);
        assertThat(get(left, "/v1/documents").body()).contains("no_leader");
        cluster.restart(leader.id());
        cluster.restart(others.get(0).id());
        assertThat(call(cluster.awaitLeader(), "RPUSH", "k", "v")).isEqualTo(":1");
    }

    @Test
    void aRequestThatComesWhileNobodyLeadsIsHeldUntilAHostDoes() throws Exception {
        ClusterHost leader = cluster.awaitLeader();
        assertThat(call(leader, "RPUSH", "held", "v")).isEqualTo(":1");
        List<ClusterHost> others =
                cluster.hosts().stream().filter(host -> !host.equals(leader)).toList();
        ClusterHost left = others.get(1);
        // This node must not be elected, because then it would close the connections that it has as a follower.
        cluster.view(left.id()).drain(true);
        try (TestCluster.StoppedClock stopped = cluster.stopClock()) {
            // Records the current leader in the view of this node: in another test, its last record may have been that
            // no node leads.
            cluster.view(left.id()).group().since();
            cluster.stop(leader.id());
            cluster.stop(others.get(0).id());
            Eventually.await(
                    "the host that is left knows no leader",
                    () -> cluster.view(left.id()).leader().isEmpty());
            awaitFollows(left);
            CompletableFuture<HttpResponse<String>> answer = HTTP.sendAsync(
                    HttpRequest.newBuilder(URI.create("http://" + left.http() + "/v1/stream/held"))
                            .build(),
                    BodyHandlers.ofString());
            cluster.restart(leader.id());
            cluster.restart(others.get(0).id());
            assertThat(answer.get().body()).isEqualTo("v");
        }
        cluster.view(left.id()).drain(false);
    }
}
