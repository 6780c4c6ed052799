package io.caravan.bench.torture;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What to torture, and how long.
 *
 * @param rounds at most so many
 * @param time no round is begun later than this
 * @param directory where the store and the evidence go; is created
 * @param secondsPerRound longest time between a store being open and the kill
 * @param workers writing threads in the child, or connections to the server
 * @param lists over which they write
 * @param volume where the store goes instead, to be filled up now and then; null for a disk with space
 */
record TortureOptions(
        int rounds,
        Duration time,
        long seed,
        Path directory,
        double secondsPerRound,
        int workers,
        int lists,
        @Nullable SmallVolume volume) {

    Path store() {
        return (volume == null ? directory : volume.directory()).resolve("store");
    }

    /** Where the store is copied to before anything touches what a kill has left. */
    Path evidence() {
        return directory.resolve("as-the-kill-left-it");
    }

    /** Where the output of the processes goes. */
    Path processLog() {
        return directory.resolve("processes.log");
    }

    /** Where the output of those goes that are started while another works. */
    Path intruderLog() {
        return directory.resolve("intruders.log");
    }
}
