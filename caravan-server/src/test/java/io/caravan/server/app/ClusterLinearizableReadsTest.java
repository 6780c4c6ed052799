package io.caravan.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.protocol.resp.RespClient;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests a cluster that serves linearizable reads ({@code --cluster-reads linearizable}). */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("thorough")
class ClusterLinearizableReadsTest {

    @TempDir
    private Path directory;

    /** Sends a command and returns the reply, or an error if the node became a follower and closed the connection. */
    private static String replyOrError(RespClient client, String... words) {
        try {
            return client.call(words);
        } catch (IOException ended) {
            return "-" + ended;
        }
    }

    @Test
    void leaderWithoutMajorityServesNoReads() throws Exception {
        try (TestCluster cluster = TestCluster.linearizable(directory)) {
            ClusterNode leader = cluster.awaitLeader();
            ClusterNode follower = cluster.follower();
            try (RespClient client = cluster.connect(leader)) {
                assertThat(client.call("RPUSH", "a", "v")).isEqualTo(":1");
                assertThat(client.call("LRANGE", "a", "0", "-1")).isEqualTo("[$v]");
                assertThat(client.call("RPUSHX", "absent", "v")).isEqualTo(":0");
                assertThat(client.call("SCAN", "0")).isEqualTo("[$0, [$a]]");
                assertThat(TestCluster.get(follower, "/v1/stream/a").body()).isEqualTo("v");

                List<String> others = cluster.nodes().stream()
                        .filter(node -> !node.equals(leader))
                        .map(ClusterNode::id)
                        .toList();
                for (String other : others) {
                    cluster.stop(other);
                }
                assertThat(replyOrError(client, "LLEN", "a")).startsWith("-");
                assertThat(replyOrError(client, "RPUSHX", "absent", "v")).startsWith("-");
                Eventually.await(
                        "the leader has noticed",
                        () -> cluster.view(leader.id()).leader().isEmpty());
                for (String other : others) {
                    cluster.restart(other);
                }
            }
            try (RespClient client = cluster.connect(cluster.awaitLeader())) {
                assertThat(client.call("LRANGE", "a", "0", "-1")).isEqualTo("[$v]");
            }
        }
    }
}
