package io.caravan.torture;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The options of a torture run.
 *
 * @param rounds maximum number of rounds
 * @param time time after which no further round starts
 * @param directory directory for the store and the evidence; created if missing
 * @param secondsPerRound longest time between the opening of the store and the kill
 * @param workers writing threads in the child, or connections to the server
 * @param lists number of lists to write
 * @param volume volume for the store, which is filled up from time to time; null to use the directory
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

    /** The copy of the store that is made after a kill, before any other process opens the store. */
    Path evidence() {
        return directory.resolve("as-the-kill-left-it");
    }

    /** The log of the processes' output. */
    Path processLog() {
        return directory.resolve("processes.log");
    }

    /** The log of processes that are started while another process is working. */
    Path intruderLog() {
        return directory.resolve("intruders.log");
    }
}
