package io.caravan.torture.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.VerifyReport;
import io.caravan.torture.round.TestOptions;
import io.caravan.torture.round.Torture;
import io.caravan.torture.round.TortureOptions;
import io.caravan.torture.round.TortureSubject;
import io.caravan.torture.round.TortureSummary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the harness itself: it must accept a correct store and detect every fault of an incorrect one. */
class TortureHarnessTest {
    private static final long SEED = 42;
    private static final int FEW_ROUNDS = 2;
    private static final int MANY_ROUNDS = 60;

    @TempDir
    private Path directory;

    @Test
    @Tag("slow")
    void acceptsCorrectStore() throws IOException, InterruptedException {
        TortureSummary summary = torture(ToyStore.Lie.NONE, FEW_ROUNDS);
        assertThat(summary.problems()).isEmpty();
        assertThat(summary.rounds()).isEqualTo(FEW_ROUNDS);
        assertThat(summary.counts().acknowledged()).isPositive();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    @Tag("thorough")
    void detectsFaultyStore(ToyStore.Lie lie) throws IOException, InterruptedException {
        TortureSummary summary = torture(lie, MANY_ROUNDS);
        assertThat(summary.problems()).anyMatch(problem -> problem.contains("not as acknowledged"));
        System.out.println(lie + " was caught in round " + summary.rounds());
    }

    private TortureSummary torture(ToyStore.Lie lie, int rounds) throws IOException, InterruptedException {
        TortureOptions options = TestOptions.of(rounds, SEED, directory, 0.2, 3, 60);
        ToyChild.lie(directory, lie);
        try (TortureSubject subject = new EmbeddedSubject(options, ToyChild.class.getName())) {
            return new Torture(options, subject, store -> new VerifyReport(0, 0, 0, 0, 0, List.of()), System.out).run();
        }
    }
}
