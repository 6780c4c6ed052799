package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests of queries that a process outside a group sends to the nodes of the group. */
@LongTimeout
@Execution(ExecutionMode.CONCURRENT)
final class LeaderLookupTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    @TempDir
    Path directory;

    private static Node node(Group group, String id) {
        return group.nodes().stream()
                .filter(node -> node.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void everyRunningNodeReportsLeaderAndNodes() throws Exception {
        try (Group group = new Group(directory).create();
                LeaderLookup lookup = new LeaderLookup(group.id(), null, TIMEOUT);
                LeaderLookup other = new LeaderLookup(UUID.randomUUID(), null, TIMEOUT)) {
            for (Node queried : group.nodes()) {
                Eventually.await("node " + queried.id() + " names the leader", () -> {
                    Optional<LeaderLookup.Reply> reply = lookup.query(queried);
                    return reply.isPresent()
                            && Objects.equals(reply.get().leader(), group.awaitLeader())
                            && List.copyOf(reply.get().nodes()).containsAll(group.nodes())
                            && reply.get().nodes().size() == 3;
                });
            }
            assertStoppedNodeDoesNotRespond(group, lookup);
            assertThat(other.query(node(group, group.awaitLeader())))
                    .as("of another group")
                    .isEmpty();
        }
    }

    private static void assertStoppedNodeDoesNotRespond(Group group, LeaderLookup lookup) throws Exception {
        String stopped = group.follower();
        Node down = node(group, stopped);
        group.stop(stopped);
        assertThat(lookup.query(down)).isEmpty();
        assertThat(lookup.query(node(group, group.awaitLeader()))).isPresent();
        group.restart(stopped);
        Eventually.await("it responds again", () -> lookup.query(down).isPresent());
    }
}
