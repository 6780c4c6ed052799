package io.caravan.torture.round;

import java.nio.file.Path;
import java.time.Duration;

/** Creates the options for short runs of the harness. */
public final class TestOptions {
    private TestOptions() {}

    public static TortureOptions of(int rounds, long seed, Path directory, double seconds, int workers, int lists) {
        return new TortureOptions(rounds, Duration.ofMinutes(5), seed, directory, seconds, workers, lists, null);
    }
}
