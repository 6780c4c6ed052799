package io.caravan.torture.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.caravan.torture.round.TortureOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that the harness accepts unchanged nodes of a Raft group, and detects nodes with faulty code. */
class GroupTortureTest {
    private static final List<GroupFault> ALL = List.of(GroupFault.values());
    /** The faults that soon expose a faulty leader, because it is replaced but continues to run. */
    private static final List<GroupFault> LEADERS =
            List.of(GroupFault.CUT_OFF_LEADER, GroupFault.DEAFEN_LEADER, GroupFault.PAUSE_LEADER);

    private static final long SEED = 1;
    private static final int FEW_ROUNDS = 2;
    private static final int SICK_ROUNDS = 4;
    private static final int MANY_ROUNDS = 20;

    @TempDir
    private Path directory;

    @Test
    @Tag("thorough")
    void groupLosesNoAcknowledgedWrites() throws IOException, InterruptedException {
        GroupSummary summary = torture(GroupNodeProcess.class, ALL, FEW_ROUNDS);
        assertThat(summary.problems()).isEmpty();
        assertThat(summary.rounds()).isEqualTo(FEW_ROUNDS);
        assertThat(summary.acknowledged()).isPositive();
        assertThat(summary.reads()).isPositive();
    }

    @Test
    @Tag("thorough")
    void groupLosesNoWritesOnFaultyDisks() throws IOException, InterruptedException {
        GroupDisks probe = new GroupDisks(GroupPlan.make(directory.resolve("probe")));
        assumeThat(probe.reasonForNone()).isEmpty();
        List<GroupFault> sick = ALL.stream().filter(GroupFault::isOfDisks).toList();
        GroupSummary summary = torture(GroupNodeProcess.class, sick, SICK_ROUNDS);
        assertThat(summary.problems()).isEmpty();
        assertThat(summary.acknowledged()).isPositive();
    }

    @Test
    @Tag("thorough")
    void detectsAcknowledgmentBeforeCommit() throws IOException, InterruptedException {
        assertCaught(torture(LyingNode.RepliesEarly.class, LEADERS, MANY_ROUNDS));
    }

    @Test
    @Tag("thorough")
    void detectsLeaderThatContinuesAfterReplacement() throws IOException, InterruptedException {
        assertCaught(torture(LyingNode.KeepsServing.class, LEADERS, MANY_ROUNDS));
    }

    @Test
    @Tag("thorough")
    void detectsNodeThatExits() throws IOException, InterruptedException {
        assertCaught(torture(LyingNode.Exits.class, List.of(GroupFault.PAUSE_LEADER), MANY_ROUNDS));
    }

    /** Checks that the harness found a problem. A faulty group may lose writes, have different replicas, or hang. */
    private static void assertCaught(GroupSummary summary) {
        assertThat(summary.problems()).isNotEmpty();
        System.out.println("caught in round " + summary.rounds() + ": "
                + summary.problems().get(0).lines().findFirst().orElseThrow());
    }

    private GroupSummary torture(Class<?> node, List<GroupFault> faults, int rounds)
            throws IOException, InterruptedException {
        TortureOptions options =
                new TortureOptions(rounds, Duration.ofMinutes(8), SEED, directory.resolve("group"), 1, 4, 32, null);
        return GroupTorture.run(node.getName(), options, faults, System.out);
    }
}
