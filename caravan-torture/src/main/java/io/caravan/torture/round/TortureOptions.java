package io.caravan.torture.round;

import io.caravan.torture.disk.SmallVolume;
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
public record TortureOptions(
        int rounds,
        Duration time,
        long seed,
        Path directory,
        double secondsPerRound,
        int workers,
        int lists,
        @Nullable SmallVolume volume) {

    public Path store() {
        return (volume == null ? directory : volume.directory()).resolve("store");
    }

    /** Returns the directory for a copy of the store, made after a kill and before another process opens the store. */
    public Path evidence() {
        return directory.resolve("as-the-kill-left-it");
    }

    /** Returns the file that receives the output of the processes. */
    public Path processLog() {
        return directory.resolve("processes.log");
    }

    /** Returns the file for the output of processes that try to open a store that is in use. */
    public Path intruderLog() {
        return directory.resolve("intruders.log");
    }
}
