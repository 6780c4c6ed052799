package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Eventually;
import io.caravan.testing.Patient;
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

/** Queries to the nodes of a group by a process that is not a member. */
@Patient
@Execution(ExecutionMode.CONCURRENT)
final class LeaderLookupTest {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    @TempDir
    Path directory;

    private static Node node(Group group, String id) {
        return group.nodes().stream()
                .filter(node -> node.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void everyNodeThatIsUpTellsWhoLeadsAndWhichNodesThereAre() throws Exception {
        try (Group group = new Group(directory).create();
                LeaderLookup inquiry = new LeaderLookup(group.id(), null, PATIENCE);
                LeaderLookup other = new LeaderLookup(UUID.randomUUID(), null, PATIENCE)) {
            for (Node asked : group.nodes()) {
                Eventually.await("node " + asked.id() + " tells who leads", () -> {
                    Optional<LeaderLookup.Answer> answer = inquiry.ask(asked);
                    return answer.isPresent()
                            && Objects.equals(answer.get().leader(), group.awaitLeader())
                            && List.copyOf(answer.get().nodes()).containsAll(group.nodes())
                            && answer.get().nodes().size() == 3;
                });
            }
            assertThatOneThatIsDownSaysNothing(group, inquiry);
            assertThat(other.ask(node(group, group.awaitLeader())))
                    .as("of another group")
                    .isEmpty();
        }
    }

    private static void assertThatOneThatIsDownSaysNothing(Group group, LeaderLookup inquiry) throws Exception {
        String stopped = group.follower();
        Node down = node(group, stopped);
        group.stop(stopped);
        assertThat(inquiry.ask(down)).isEmpty();
        assertThat(inquiry.ask(node(group, group.awaitLeader()))).isPresent();
        group.restart(stopped);
        Eventually.await("it answers again", () -> inquiry.ask(down).isPresent());
    }
}
