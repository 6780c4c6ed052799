package io.caravan.torture.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Rounds;
import io.caravan.torture.TortureMain;
import io.caravan.torture.round.TestOptions;
import io.caravan.torture.round.Torture;
import io.caravan.torture.round.TortureOptions;
import io.caravan.torture.round.TortureSubject;
import io.caravan.torture.round.TortureSummary;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that the harness accepts the unchanged store and detects a sabotaged one. */
@Tag("slow")
class TortureTest {
    private static final long SEED = 7;
    private static final int FEW_ROUNDS = Rounds.of(2, 10);
    private static final int MANY_ROUNDS = 60;

    @TempDir
    private Path directory;

    @Test
    @Tag("rounds")
    void killLosesNoAcknowledgedWrites() throws IOException, InterruptedException {
        TortureSummary summary = torture(TortureChild.class, FEW_ROUNDS);
        assertThat(summary.problems()).isEmpty();
        assertThat(summary.rounds()).isEqualTo(FEW_ROUNDS);
        assertThat(summary.counts().acknowledged()).isPositive();
    }

    @Test
    @Tag("thorough")
    void detectsAcknowledgmentBeforeLogWrite() throws IOException, InterruptedException {
        TortureSummary summary = torture(SabotagedChild.class, MANY_ROUNDS);
        assertThat(summary.problems()).anyMatch(problem -> problem.contains("not as acknowledged"));
        System.out.println("acknowledging early was caught in round " + summary.rounds());
    }

    private TortureSummary torture(Class<?> child, int rounds) throws IOException, InterruptedException {
        TortureOptions options = TestOptions.of(rounds, SEED, directory, 0.4, 3, 120);
        try (TortureSubject subject = new EmbeddedSubject(options, child.getName())) {
            return new Torture(options, subject, TortureMain::verify, System.out).run();
        }
    }
}
