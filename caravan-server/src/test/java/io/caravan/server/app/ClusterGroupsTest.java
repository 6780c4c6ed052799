package io.caravan.server.app;

import static io.caravan.server.app.TestCluster.send;
import static io.caravan.server.app.TestCluster.status;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.cli.cluster.ClusterCommandRun;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.SlotRange;
import io.caravan.server.cluster.Slots;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClusterClient;

/** Tests a cluster of two Raft groups with three nodes each. Clients may send a request to any node. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterGroupsTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private static Path directory;

    @AutoClose
    private static TestCluster cluster;

    @BeforeAll
    static void start() throws IOException {
        cluster = TestCluster.ofTwoGroups(directory, config -> config, null, "d", "e", "f");
        leaders();
    }

    /** Waits until every node knows the leaders of both groups, and returns these leaders. */
    private static List<ClusterNode> leaders() {
        AtomicReference<List<ClusterNode>> leaders = new AtomicReference<>(List.of());
        Eventually.await("each node knows both leaders", () -> {
            leaders.set(List.of(cluster.awaitLeader(0), cluster.awaitLeader(1)));
            return cluster.nodes().stream()
                    .allMatch(node -> cluster.view(node.id()).groups().stream()
                            .flatMap(group -> group.leader().stream())
                            .toList()
                            .equals(leaders.get()));
        });
        return leaders.get();
    }

    /** Returns a follower of the group. */
    private static ClusterNode follower(int group) {
        ClusterNode leader = cluster.awaitLeader(group);
        return cluster.nodes().subList(3 * group, 3 * group + 3).stream()
                .filter(node -> !node.equals(leader))
                .findFirst()
                .orElseThrow();
    }

    private static int group(String name) {
        return Slots.group(name.getBytes(UTF_8), 2);
    }

    /** Returns document names in the hash slots of this group. No other test uses these names. */
    private static Stream<String> namesIn(int group, String test) {
        return IntStream.range(0, 1_000).mapToObj(number -> test + "-" + number).filter(name -> group(name) == group);
    }

    private static String nameIn(int group, String test) {
        return namesIn(group, test).findFirst().orElseThrow();
    }

    private static String moved(String name, ClusterNode to) {
        return "-MOVED " + Slots.of(name.getBytes(UTF_8)) + " " + to.resp();
    }

    @Test
    void anyNodeRedirectsToLeaderOfDocumentGroup() throws Exception {
        List<ClusterNode> leaders = leaders();
        for (int group = 0; group < 2; group++) {
            String name = nameIn(group, "moved");
            ClusterNode leader = leaders.get(group);
            ClusterNode otherLeader = leaders.get(1 - group);
            for (ClusterNode target : List.of(otherLeader, follower(group), follower(1 - group))) {
                assertThat(cluster.call(target, "RPUSH", name, "v")).isEqualTo(moved(name, leader));
                assertThat(cluster.call(target, "LRANGE", name, "0", "-1")).isEqualTo(moved(name, leader));
            }
            assertThat(cluster.call(leader, "RPUSH", name, "v")).isEqualTo(":1");
            assertThat(cluster.call(otherLeader, "SCAN", "0", "COUNT", "1000")).doesNotContain(name);
            assertThat(cluster.call(otherLeader, "CLUSTER", "COUNTKEYSINSLOT", "" + Slots.of(name.getBytes(UTF_8))))
                    .isEqualTo(":0");
            assertThat(cluster.call(leader, "CLUSTER", "COUNTKEYSINSLOT", "" + Slots.of(name.getBytes(UTF_8))))
                    .isEqualTo(":1");
        }
    }

    @Test
    void everyNodeReportsAllGroups() throws Exception {
        List<ClusterNode> leaders = leaders();
        for (ClusterNode node : cluster.nodes()) {
            assertThat(cluster.call(node, "CLUSTER", "SLOTS"))
                    .contains(
                            "[:0, :8191, [$127.0.0.1, :" + leaders.get(0).resp().port() + ",",
                            "[:8192, :16383, [$127.0.0.1, :"
                                    + leaders.get(1).resp().port() + ",");
            assertThat(cluster.call(node, "CLUSTER", "NODES").lines())
                    .filteredOn(line -> line.contains("master"))
                    .hasSize(2)
                    .anyMatch(line -> line.contains(leaders.get(0).resp().toString()) && line.endsWith(" 0-8191"))
                    .anyMatch(line -> line.contains(leaders.get(1).resp().toString()) && line.contains(" 8192-16383"));
            assertThat(cluster.call(node, "CLUSTER", "INFO"))
                    .contains("cluster_state:ok", "cluster_known_nodes:6", "cluster_size:2", "cluster_slots_ok:16384");
            assertThat(cluster.call(node, "CLUSTER", "SHARDS")).contains("[:0, :8191]", "[:8192, :16383]");
            JsonNode page = JSON.readTree(send(node, "GET", "/v1/cluster", "").body());
            assertThat(page.at("/groups/0/leader").asText())
                    .isEqualTo(leaders.get(0).id());
            assertThat(page.at("/groups/1/leader").asText())
                    .isEqualTo(leaders.get(1).id());
            ClusterCommandRun status =
                    ClusterCommandRun.of("status", "--server", node.resp().toString());
            int other = cluster.nodes().indexOf(node) < 3 ? 1 : 0;
            assertThat(status.text())
                    .contains("slots " + SlotRange.ofGroup(other, 2) + ": node "
                            + leaders.get(other).id() + " leads, RESP "
                            + leaders.get(other).resp())
                    .doesNotContain("slots " + SlotRange.ofGroup(1 - other, 2) + ":");
        }
    }

    @Test
    void clusterClientNeedsOnlyOneNode() throws Exception {
        ClusterNode target = follower(1);
        List<String> names =
                IntStream.range(0, 60).mapToObj(number -> "client-" + number).toList();
        try (RedisClusterClient client = RedisClusterClient.builder()
                .nodes(Set.of(
                        new HostAndPort(target.resp().host(), target.resp().port())))
                .build()) {
            for (String name : names) {
                assertThat(client.rpush(name, "of " + name)).isEqualTo(1);
            }
            for (String name : names) {
                assertThat(client.lrange(name, 0, -1)).containsExactly("of " + name);
            }
        }
        for (int group = 0; group < 2; group++) {
            int expected = group;
            String listed = cluster.call(leaders().get(group), "SCAN", "0", "COUNT", "1000", "MATCH", "client-*");
            assertThat(names)
                    .allMatch(name -> (listed.contains("$" + name + "]") || listed.contains("$" + name + ","))
                            == (group(name) == expected));
        }
    }

    @Test
    void anyNodeServesAllGroupsOverHttp() throws Exception {
        List<ClusterNode> nodes =
                List.of(leaders().get(0), follower(0), leaders().get(1), follower(1));
        Set<String> written = new TreeSet<>();
        for (int i = 0; i < nodes.size(); i++) {
            for (int group = 0; group < 2; group++) {
                String name = nameIn(group, "http-" + i);
                assertThat(status(nodes.get(i), "PUT", "/v1/stream/" + name, "1"))
                        .isEqualTo(201);
                assertThat(status(nodes.get(i), "POST", "/v1/stream/" + name, "2"))
                        .isEqualTo(204);
                written.add(name);
            }
        }
        for (ClusterNode node : nodes) {
            for (String name : written) {
                assertThat(send(node, "GET", "/v1/stream/" + name, "").body()).isEqualTo("12");
            }
            assertThat(listed(node, "http-", 3)).containsExactlyInAnyOrderElementsOf(written);
        }
    }

    /** A relayed live read must survive the check for a new leader that the relay performs once a second. */
    @Test
    void liveReadOfOtherGroupKeepsReceivingValues() throws Exception {
        String there = nameIn(1, "live");
        assertThat(status(leaders().get(1), "PUT", "/v1/stream/" + there, "1")).isEqualTo(201);
        try (Stream<String> ofLeader = live(leaders().get(0), there);
                Stream<String> ofFollower = live(follower(0), there)) {
            List<Iterator<String>> readers = List.of(ofLeader.iterator(), ofFollower.iterator());
            // This takes longer than the interval of the relay's check.
            for (int number = 0; number < 15; number++) {
                LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
                String value = "<" + number + ">";
                assertThat(cluster.call(leaders().get(1), "RPUSH", there, value))
                        .startsWith(":");
                String data = Base64.getEncoder().encodeToString(value.getBytes(UTF_8));
                for (Iterator<String> lines : readers) {
                    assertThat(await(lines, line -> line.contains(value) || line.contains(data)))
                            .as("value %s arrives", value)
                            .isTrue();
                }
            }
        }
    }

    private static Stream<String> live(ClusterNode target, String name) throws Exception {
        return lines(TestCluster.request(target, "/v1/stream/" + name + "?live=sse&offset=now"));
    }

    /** A stopping node must end the live reads that it relays. Otherwise, it would interrupt them after a timeout. */
    @Test
    void stoppingNodeEndsRelayedLiveReads() throws Exception {
        ClusterNode target = follower(0);
        String path = "/v1/stream/" + nameIn(1, "ended");
        assertThat(status(target, "PUT", path, "1")).isEqualTo(201);

        String body = "{\"streams\":[{\"path\":\"" + path + "\",\"offset\":\"-1\"}]}";
        try (Stream<String> one = lines(TestCluster.request(target, path + "?live=sse&offset=-1"));
                Stream<String> many =
                        lines(TestCluster.request(target, "/v1/live").POST(BodyPublishers.ofString(body)))) {
            Iterator<String> ofOne = one.iterator();
            Iterator<String> ofMany = many.iterator();
            assertThat(await(ofOne, line -> line.startsWith("data:"))).isTrue();
            assertThat(await(ofMany, line -> line.startsWith("data:"))).isTrue();
            cluster.stop(target.id());
            // An interrupted read would throw an exception here.
            assertThat(await(ofOne, line -> false)).isFalse();
            assertThat(await(ofMany, line -> false)).isFalse();
        } finally {
            cluster.restart(target.id());
            leaders();
        }
    }

    private static Stream<String> lines(HttpRequest.Builder request) throws Exception {
        return TestCluster.HTTP.send(request.build(), BodyHandlers.ofLines()).body();
    }

    private static boolean await(Iterator<String> lines, Predicate<String> wanted) {
        while (lines.hasNext()) {
            if (wanted.test(lines.next())) {
                return true;
            }
        }
        return false;
    }

    /**
     * A node must not relay a relayed request again, because nodes with different cluster files could relay it in a
     * circle or report the document as missing.
     */
    @Test
    void relayedRequestIsNotRelayedAgain() throws Exception {
        String there = nameIn(1, "circle");
        for (ClusterNode target : List.of(leaders().get(0), follower(0))) {
            for (String path : List.of("/v1/stream/" + there, "/v1/documents?cursor=8192-0")) {
                HttpResponse<String> rejected = send(target, "GET", path, "", "Caravan-Relayed", "x");
                assertThat(rejected.statusCode()).as(rejected.body()).isEqualTo(503);
                assertThat(rejected.headers().firstValue("Caravan-Relayed")).hasValue("refused");
            }
        }
        HttpResponse<String> made = send(leaders().get(1), "PUT", "/v1/stream/" + there, "1", "Caravan-Relayed", "x");
        assertThat(made.statusCode()).isEqualTo(201);
    }

    /** Requests the document names from a node page by page, and returns all of them. */
    private static List<String> listed(ClusterNode node, String prefix, int limit) throws Exception {
        List<String> names = new ArrayList<>();
        String cursor = "";
        for (int pages = 0; pages < 1_000; pages++) {
            JsonNode page =
                    JSON.readTree(send(node, "GET", "/v1/documents?prefix=" + prefix + "&limit=" + limit + cursor, "")
                            .body());
            page.path("documents")
                    .forEach(document -> names.add(document.path("name").asText()));
            if (page.path("cursor").isNull()) {
                return names;
            }
            cursor = "&cursor=" + page.path("cursor").asText();
        }
        throw new AssertionError("the list has no end");
    }

    @Test
    void rejectsInvalidCursor() throws Exception {
        for (String cursor : List.of("x", "16384-0", "-1", "0-", "0-99999999999999999999", "99999999999999999999")) {
            assertThat(status(follower(0), "GET", "/v1/documents?cursor=" + cursor, ""))
                    .as(cursor)
                    .isEqualTo(400);
        }
    }

    /** Posts a JSON object whose {@code array} has an object for each stream, with {@code field} and its path. */
    private static HttpResponse<String> post(
            ClusterNode node, String path, String array, String field, List<String> names) throws Exception {
        String elements = names.stream()
                .map(name -> "{" + field + ",\"path\":\"/v1/stream/" + name + "\"}")
                .collect(Collectors.joining(","));
        return send(node, "POST", path, "{\"" + array + "\":[" + elements + "]}");
    }

    @Test
    void rejectsRequestAcrossGroups() throws Exception {
        String here = nameIn(0, "crossed");
        String there = nameIn(1, "crossed");
        for (ClusterNode node : List.of(follower(0), leaders().get(1))) {
            for (List<String> order : List.of(List.of(here, there), List.of(there, here))) {
                HttpResponse<String> batch = post(node, "/v1/batch", "operations", "\"append\":[\"1\"]", order);
                assertThat(batch.statusCode()).as(batch.body()).isEqualTo(409);
                assertThat(batch.body()).contains("cross_slot", order.get(1));
                HttpResponse<String> live = post(node, "/v1/live", "streams", "\"offset\":\"-1\"", order);
                assertThat(live.statusCode()).as(live.body()).isEqualTo(409);
            }
            assertThat(status(node, "GET", "/v1/stream/" + here, "")).isEqualTo(404);
        }
        assertThat(status(follower(1), "PUT", "/v1/stream/" + there, "1")).isEqualTo(201);
        HttpResponse<String> fork =
                send(follower(1), "PUT", "/v1/stream/" + here, "", "Stream-Forked-From", "/v1/stream/" + there);
        assertThat(fork.statusCode()).as(fork.body()).isEqualTo(409);
        assertThat(fork.body()).contains("cross_slot");
        assertThat(cluster.call(leaders().get(0), "EXISTS", here)).isEqualTo(":0");
        String tagged = "{" + there + "}";
        assertThat(cluster.call(leaders().get(1), "RPUSH", tagged, "1")).isEqualTo(":1");
        HttpResponse<String> together = post(
                follower(0), "/v1/batch", "operations", "\"append\":[\"2\"]", List.of(there, "%7B" + there + "%7D"));
        assertThat(together.statusCode()).as(together.body()).isEqualTo(200);
        assertThat(cluster.call(leaders().get(1), "LRANGE", tagged, "0", "-1")).isEqualTo("[$1, $2]");
    }

    @Test
    void setsAndRemovesSpaceInEachGroup() throws Exception {
        String target = follower(0).resp().toString();
        assertThat(ClusterCommandRun.caravan("space", "set", "limited/", "max-values=2", "--server", target)
                        .exitCode())
                .isZero();
        for (int group = 0; group < 2; group++) {
            String name = nameIn(group, "limited/");
            assertThat(cluster.call(leaders().get(group), "RPUSH", name, "1", "2", "3"))
                    .startsWith("-TOOLARGE");
        }
        assertThat(ClusterCommandRun.caravan("space", "rm", "limited/", "--server", target)
                        .exitCode())
                .isZero();
        for (ClusterNode leader : leaders()) {
            assertThat(cluster.call(leader, "CARAVAN.SPACE", "LIST")).doesNotContain("limited/");
        }
        assertThat(ClusterCommandRun.caravan("space", "rm", "limited/", "--server", target)
                        .exitCode())
                .isEqualTo(3);
    }

    /** A command that lists documents must either list those in all groups or fail. */
    @Test
    void commandsCoverAllGroupsOrReject() throws Exception {
        List<String> names = Stream.concat(
                        namesIn(0, "many").limit(3), namesIn(1, "many").limit(3))
                .toList();
        for (String name : names) {
            assertThat(status(follower(0), "PUT", "/v1/stream/" + name, "1")).isEqualTo(201);
        }
        for (ClusterNode node : List.of(follower(0), leaders().get(1))) {
            String target = node.resp().toString();
            assertThat(ClusterCommandRun.caravan("ls", "--match", "many-*", "--server", target)
                            .text()
                            .lines())
                    .containsExactlyInAnyOrderElementsOf(names);
            ClusterCommandRun export = ClusterCommandRun.caravan("export", "--prefix", "many-", "--server", target);
            assertThat(export.exitCode()).as(export.text()).isZero();
            assertThat(names).allMatch(name -> export.text().contains(name + "\r\n"));
        }
    }

    /** Commands that transfer documents must reach each document in its group, at the source and at the target. */
    @Test
    void documentsAreTransferredToAndFromAllGroups() throws Exception {
        List<String> names = Stream.concat(
                        namesIn(0, "carried").limit(3), namesIn(1, "carried").limit(3))
                .toList();
        String target = follower(0).resp().toString();
        Path file = directory.resolve("carried");
        try (ServedStore other = new ServedStore()) {
            for (String name : names) {
                CommandRun.of(other, "append", name, "1").succeeds();
            }
            List<String> documents = other.exported();
            CommandRun.of(other, "export", "--out", file.toString()).succeeds();
            CommandRun copy = CommandRun.of(other, "copy", "--prefix", "carried-", "--to", target);
            assertThat(copy.succeeds().out()).startsWith("copied 6 documents, 6 values");
            assertThat(CommandRun.at(target, "import", file.toString())
                            .succeeds()
                            .out())
                    .contains("; 6 were there already");
            CommandRun.of(other, CommandRun.words(List.of("rm"), names.toArray(String[]::new)))
                    .succeeds();
            CommandRun move = CommandRun.at(target, "move", "--prefix", "carried-", "--to", other.address());
            assertThat(move.succeeds().out()).startsWith("moved 6 documents");
            assertThat(other.exported()).isEqualTo(documents);
        }
    }

    @Test
    void rejectsNodeWithSlotsOfOtherGroup() throws Exception {
        String text = """
                cluster = 3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10
                x.peer = 127.0.0.1:11
                x.resp = 127.0.0.1:12
                x.http = 127.0.0.1:13
                x.slots = 8192-16383
                y.peer = 127.0.0.1:21
                y.resp = 127.0.0.1:22
                y.http = 127.0.0.1:23
                y.slots = 0-8191
                """;
        Path file = Files.writeString(directory.resolve("joining.properties"), text);
        String server = leaders().get(0).resp().toString();
        ClusterCommandRun add = ClusterCommandRun.of("add", "x", "--cluster-file", file.toString(), "--server", server);
        assertThat(add.exitCode()).isEqualTo(1);
        assertThat(add.text())
                .contains("the new node has the slots 8192-16383", "the Raft group of this server has 0-8191");
    }

    @Test
    void rejectsNewNodeWithIdOrAddressOfOtherGroup() throws Exception {
        ClusterNode other = follower(1);
        ClusterNode target = leaders().get(0);
        String address = other.resp().toString();
        assertThat(cluster.call(target, "CARAVAN.CLUSTER", "ADD", "x", "127.0.0.1:11", address, "127.0.0.1:13"))
                .startsWith("-ERR node " + other.id() + " already has the address " + other.resp());
        assertThat(cluster.call(
                        target, "CARAVAN.CLUSTER", "ADD", other.id(), "127.0.0.1:11", "127.0.0.1:12", "127.0.0.1:13"))
                .startsWith("-ERR the group of the slots 8192-16383 already has a node " + other.id());
    }

    @Test
    void otherGroupFindsNewLeaderAfterFailover() throws Exception {
        ClusterNode lost = cluster.awaitLeader(1);
        ClusterNode target = follower(0);
        String name = nameIn(1, "lost");
        assertThat(status(target, "PUT", "/v1/stream/" + name, "1")).isEqualTo(201);
        cluster.stop(lost.id());
        try {
            Eventually.await("the document is there again", () -> responds(target, name));
            ClusterNode next = cluster.awaitLeader(1);
            Eventually.await(
                    "node " + target.id() + " knows the new leader",
                    () -> cluster.view(target.id())
                            .group(Slots.of(name.getBytes(UTF_8)))
                            .leader()
                            .equals(Optional.of(next)));
            assertThat(cluster.call(target, "RPUSH", name, "2")).isEqualTo(moved(name, next));
            assertThat(status(target, "POST", "/v1/stream/" + name, "2")).isEqualTo(204);
            assertThat(send(target, "GET", "/v1/stream/" + name, "").body()).isEqualTo("12");
        } finally {
            cluster.restart(lost.id());
            leaders();
        }
    }

    @Test
    void groupOutageDoesNotAffectOtherGroup() throws Exception {
        ClusterNode target = cluster.awaitLeader(0);
        String here = nameIn(0, "down");
        String there = nameIn(1, "down");
        assertThat(status(target, "PUT", "/v1/stream/" + there, "1")).isEqualTo(201);
        List<ClusterNode> lost = cluster.nodes().subList(3, 6);
        cluster.stopAll(lost);
        try {
            Eventually.await(
                    "no node leads the other group",
                    () -> cluster.view(target.id()).groups().get(1).leader().isEmpty());
            assertThat(cluster.call(target, "RPUSH", here, "1")).isEqualTo(":1");
            assertThat(cluster.call(target, "RPUSH", there, "1")).startsWith("-CLUSTERDOWN");
            assertThat(status(target, "GET", "/v1/stream/" + there, "")).isEqualTo(503);
            assertThat(status(target, "GET", "/v1/documents?cursor=8192-0", "")).isEqualTo(503);
            assertThat(cluster.call(target, "CLUSTER", "INFO")).contains("cluster_state:fail", "cluster_slots_ok:8192");
            ClusterCommandRun half =
                    ClusterCommandRun.caravan("ls", "--server", target.resp().toString());
            assertThat(half.exitCode()).isEqualTo(1);
            assertThat(half.text()).contains("no node leads the slots 8192-16383");
        } finally {
            cluster.restartAll(lost);
            leaders();
        }
        assertThat(send(target, "GET", "/v1/stream/" + there, "").body()).isEqualTo("1");
    }

    private static boolean responds(ClusterNode target, String name) {
        try {
            return send(target, "GET", "/v1/stream/" + name, "").statusCode() == 200;
        } catch (Exception lost) {
            return false;
        }
    }
}
