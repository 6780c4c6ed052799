package io.caravan.bench.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three hosts of a group under the harness, unchanged and sabotaged. */
@Tag("thorough")
class GroupTortureTest {
    private static final long SEED = 1;
    private static final int FEW_ROUNDS = 2;
    private static final int MANY_ROUNDS = 20;

    @TempDir
    private Path directory;

    @Test
    void nothingThatAGroupAcknowledgedIsLost() throws IOException, InterruptedException {
        GroupSummary summary = torture(GroupHost.class, FEW_ROUNDS);
        assertThat(summary.problems()).isEmpty();
        assertThat(summary.rounds()).isEqualTo(FEW_ROUNDS);
        assertThat(summary.acknowledged()).isPositive();
    }

    @Test
    void acknowledgingBeforeTheGroupHasCommittedIsCaught() throws IOException, InterruptedException {
        assertCaught(torture(LyingHost.AnswersEarly.class, MANY_ROUNDS));
    }

    @Test
    void aLeaderThatGoesOnAfterItWasReplacedIsCaught() throws IOException, InterruptedException {
        assertCaught(torture(LyingHost.GoesOn.class, MANY_ROUNDS));
    }

    private static void assertCaught(GroupSummary summary) {
        assertThat(summary.problems())
                .anyMatch(problem -> problem.contains("not as acknowledged")
                        || problem.contains("which nothing acknowledged before explains"));
        System.out.println("caught in round " + summary.rounds());
    }

    private GroupSummary torture(Class<? extends GroupHost> host, int rounds) throws IOException, InterruptedException {
        return GroupTorture.run(host.getName(), directory, rounds, Duration.ofMinutes(4), SEED, System.out);
    }
}
