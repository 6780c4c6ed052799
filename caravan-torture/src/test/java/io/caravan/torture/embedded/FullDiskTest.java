package io.caravan.torture.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.caravan.torture.TortureMain;
import io.caravan.torture.disk.SmallVolume;
import io.caravan.torture.round.RoundReport;
import io.caravan.torture.round.Torture;
import io.caravan.torture.round.TortureOptions;
import io.caravan.torture.round.TortureSubject;
import io.caravan.torture.round.TortureSummary;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the harness on a store whose disk fills up. Runs only where a small file system can be mounted. */
class FullDiskTest {
    /** A seed that yields both a round that ends on a full disk and a round in which the disk gets space again. */
    private static final long SEED = 760;

    private static final int ROUNDS = 2;

    @TempDir
    private Path directory;

    @Test
    @Tag("thorough")
    void fullDiskLosesNoAcknowledgedWrites() throws IOException, InterruptedException {
        try (SmallVolume volume = SmallVolume.mount(directory)) {
            TortureOptions options =
                    new TortureOptions(ROUNDS, Duration.ofMinutes(2), SEED, directory, 0.4, 3, 120, volume);
            try (TortureSubject subject = new EmbeddedSubject(options, TortureChild.class.getName())) {
                TortureSummary summary = new Torture(options, subject, TortureMain::verify, System.out).run();
                assertThat(summary.problems()).isEmpty();
                assertThat(summary.trials(RoundReport.Trial.DISK_FULL)).isEqualTo(ROUNDS);
                assertThat(summary.trials(RoundReport.Trial.SPACE_BACK)).isEqualTo(1);
                assertThat(summary.counts().rejected()).isPositive();
            }
        } catch (SmallVolume.NotPossibleException reason) {
            abort(reason.getMessage());
        }
    }
}
