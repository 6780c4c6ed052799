package io.caravan.torture;

import java.nio.file.Path;
import java.time.Duration;

/** Creates the options for short runs of the harness. */
final class TestOptions {
    private TestOptions() {}

    static TortureOptions of(int rounds, long seed, Path directory, double seconds, int workers, int lists) {
        return new TortureOptions(rounds, Duration.ofMinutes(5), seed, directory, seconds, workers, lists, null);
    }
}
