package io.caravan.bench.torture;

import io.caravan.DurableListStore;
import io.caravan.VerifyReport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;

/** Options of short runs. */
final class TestOptions {
    static final Function<Path, VerifyReport> VERIFIER =
            store -> DurableListStore.verify(store, VerifyReport.Progress.NONE);

    private TestOptions() {}

    static TortureOptions of(int rounds, long seed, Path directory, double seconds, int workers, int lists) {
        return new TortureOptions(rounds, Duration.ofMinutes(5), seed, directory, seconds, workers, lists, null);
    }
}
