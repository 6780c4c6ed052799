package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.cluster.ClusterCommandRun;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests commands that add, remove, and replace nodes while the cluster serves clients. */
@Tag("slow")
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterMembershipTest {
    @TempDir
    private Path directory;

    private static String[] add(ClusterNode node) {
        return ("CARAVAN.CLUSTER ADD " + node.id() + " " + node.peer() + " " + node.resp() + " " + node.http())
                .split(" ");
    }

    private static String page(ClusterNode node, String path) throws Exception {
        return TestCluster.get(node, path).body();
    }

    private Path file(TestCluster cluster, ClusterNode... more) throws IOException {
        StringBuilder text = new StringBuilder("cluster = " + cluster.view("a").id() + "\n");
        for (ClusterNode node :
                Stream.concat(cluster.nodes().stream(), Stream.of(more)).toList()) {
            text.append("%1$s.peer = %2$s%n%1$s.resp = %3$s%n%1$s.http = %4$s%n"
                    .formatted(node.id(), node.peer(), node.resp(), node.http()));
        }
        return Files.writeString(directory.resolve("cluster.properties"), text);
    }

    private static ClusterCommandRun remove(ClusterNode node, ClusterNode leader) throws Exception {
        return ClusterCommandRun.of(
                "remove", node.id(), "--server", leader.resp().toString());
    }

    /**
     * Waits until the leader may remove the stopped node, and returns the leader, which may have changed on a busy
     * machine.
     */
    private static ClusterNode awaitSilent(TestCluster cluster, ClusterNode stopped) {
        AtomicReference<ClusterNode> leader = new AtomicReference<>();
        Eventually.await("node " + stopped.id() + " has been silent", () -> {
            cluster.nodes().stream()
                    .filter(node -> cluster.server(node.id()) != null)
                    .filter(node -> isSilent(cluster.view(node.id()), stopped))
                    .forEach(leader::set);
            return leader.get() != null;
        });
        return leader.get();
    }

    /** Whether the node with this view is the leader and has received nothing from {@code stopped} for two seconds. */
    private static boolean isSilent(Cluster view, ClusterNode stopped) {
        return view.progress(stopped)
                .filter(progress ->
                        progress.silent() != null && progress.silent().toMillis() > 2_000)
                .isPresent();
    }

    @Test
    void addsRemovesAndReplacesNodes() throws Exception {
        try (TestCluster cluster = new TestCluster(directory.resolve("hosts"))) {
            rejectsInvalidChanges(cluster);
            addsAndRemovesNode(cluster);
            replacesDeadNodeFromClusterFile(cluster);
        }
    }

    private void addsAndRemovesNode(TestCluster cluster) throws Exception {
        ClusterNode leader = cluster.awaitLeader();
        assertThat(cluster.call(leader, "RPUSH", "kept", "value")).isEqualTo(":1");
        ClusterNode d = cluster.join("d");
        assertThat(cluster.call(leader, add(d))).isEqualTo("[$nodes, $a,b,c,d]");
        for (String id : List.of("a", "b", "c", "d")) {
            Eventually.await(
                    "node " + id + " knows the new node",
                    () -> cluster.view(id).nodes().stream()
                            .map(ClusterNode::id)
                            .toList()
                            .equals(List.of("a", "b", "c", "d")));
        }
        for (ClusterNode node : List.of(leader, d)) {
            assertThat(cluster.call(node, "CLUSTER", "SLOTS"))
                    .contains(":" + d.resp().port() + ",");
            assertThat(cluster.call(node, "CLUSTER", "NODES"))
                    .contains(d.resp() + "@" + d.peer().port());
            assertThat(cluster.call(node, "CLUSTER", "SHARDS"))
                    .contains(":" + d.resp().port() + ",");
            assertThat(cluster.call(node, "CLUSTER", "INFO")).contains("cluster_known_nodes:4");
            assertThat(cluster.call(node, "INFO", "cluster")).contains("cluster_node_d:", "resp=" + d.resp());
            assertThat(page(node, "/metrics")).contains("caravan_cluster_node_lag_entries{node=\"d\"}");
            assertThat(page(node, "/v1/cluster")).contains("\"id\":\"d\"");
        }
        assertThat(cluster.call(d, "RPUSH", "kept", "value"))
                .startsWith("-MOVED")
                .endsWith(leader.resp().toString());
        Eventually.await("the new node has everything", () -> cluster.view("d").behind() == 0);
        assertThat(page(d, "/readyz")).contains("\"ready\"");

        ClusterNode leaves = cluster.nodes().stream()
                .filter(node -> !node.equals(leader))
                .findFirst()
                .orElseThrow();
        ClusterCommandRun rejection = remove(leaves, leader);
        assertThat(rejection.exitCode()).isEqualTo(1);
        assertThat(rejection.text()).contains("responded a moment ago: stop it");
        cluster.stop(leaves.id());
        ClusterNode now = awaitSilent(cluster, leaves);
        ClusterCommandRun removal = remove(leaves, now);
        assertThat(removal.exitCode()).as(removal.text()).isZero();
        assertThat(removal.text())
                .contains(
                        "removes node " + leaves.id() + "; it cannot come back",
                        "3 nodes survive the loss of 1",
                        "the cluster has the nodes ");
        cluster.restart(leaves.id());
        ClusterServer removed = cluster.server(leaves.id());
        removed.awaitFailure();
        assertThat(removed.removed()).isTrue();
        cluster.stop(leaves.id());
        assertThat(cluster.call(now, "CLUSTER", "NODES"))
                .doesNotContain(leaves.resp().toString());
        assertThat(page(now, "/metrics")).doesNotContain("node=\"" + leaves.id() + "\"");
        assertThat(cluster.call(now, "LRANGE", "kept", "0", "-1")).isEqualTo("[$value]");
    }

    private void replacesDeadNodeFromClusterFile(TestCluster cluster) throws Exception {
        ClusterNode dead = cluster.follower();
        cluster.stop(dead.id());
        ClusterNode e = cluster.join("e");
        ClusterNode leader = awaitSilent(cluster, dead);
        String file = file(cluster, e).toString();
        String server = leader.resp().toString();
        ClusterCommandRun run =
                ClusterCommandRun.of("replace", dead.id(), "e", "--cluster-file", file, "--json", "--server", server);
        assertThat(run.exitCode()).as(run.text()).isZero();
        assertThat(run.text()).contains("\"nodes\":[").contains("\"e\"").doesNotContain("\"" + dead.id() + "\"");
        cluster.lead(e);
        assertThat(cluster.call(e, "LRANGE", "kept", "0", "-1")).isEqualTo("[$value]");

        // Restarts an original node, whose cluster file does not contain the new node.
        String other = cluster.nodes().stream()
                .map(ClusterNode::id)
                .filter(id -> cluster.server(id) != null)
                .findFirst()
                .orElseThrow();
        cluster.stop(other);
        cluster.restart(other);
        // Waits, because the node may have been stopped before it applied the replacement of the dead node.
        Eventually.await(
                "the restarted node knows the leader and the removed node",
                () -> cluster.view(other).leader().equals(Optional.of(e))
                        && !cluster.view(other).nodes().contains(dead));
        assertThat(cluster.view(other).nodes()).contains(e);
    }

    private void rejectsInvalidChanges(TestCluster cluster) throws Exception {
        ClusterNode leader = cluster.awaitLeader();
        ClusterNode follower = cluster.follower();
        assertThat(cluster.call(follower, "CARAVAN.CLUSTER", "REMOVE", "a"))
                .startsWith("-ERR this node is a follower: send the command to the leader, node " + leader.id());
        assertThat(cluster.call(leader, "CARAVAN.CLUSTER", "MOVE", "a")).startsWith("-ERR unknown subcommand");
        assertThat(cluster.call(leader, "CARAVAN.CLUSTER", "REMOVE", "z")).startsWith("-ERR the group has no node z");
        assertThat(cluster.call(leader, "CARAVAN.CLUSTER", "REMOVE", leader.id()))
                .contains("is the leader: transfer leadership");
        assertThat(cluster.call(leader, "CARAVAN.CLUSTER", "ADD", "d", "127.0.0.1:1", "127.0.0.1:2", "nowhere"))
                .contains("'nowhere' is not HOST:PORT");
        String taken = follower.http().toString();
        assertThat(cluster.call(leader, "CARAVAN.CLUSTER", "ADD", "d", "127.0.0.1:1", taken, "127.0.0.1:3"))
                .contains("node " + follower.id() + " already has the address " + follower.http());
        assertThat(cluster.call(leader, "CARAVAN.CLUSTER", "ADD", "d", "127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:3"))
                .contains("needs three different addresses");
        assertThat(cluster.call(leader, "CARAVAN.CLUSTER", "ADD", "a!", "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"))
                .contains("the id of a node must have");
        String file = file(cluster).toString();
        String server = leader.resp().toString();
        ClusterCommandRun run = ClusterCommandRun.of("add", "x", "--cluster-file", file, "--server", server);
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.text()).contains("the cluster has no node 'x'");
    }
}
