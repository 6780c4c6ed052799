package io.caravan.bench.hostloss;

import io.caravan.bench.s3.S3Software;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What is drilled, and how long.
 *
 * @param s3 where the archive is; is installed
 * @param seconds how long a server serves, at least, beyond the greatest age
 * @param archiveAfter the greatest age, as the server is told
 * @param allowance what the archive may take beyond it
 * @param rate requests a second
 * @param lie what is done to the archive before it is restored; null for an honest drill
 * @param directory where stores, objects and the output of processes go
 */
record HostLossOptions(
        S3Software s3,
        int rounds,
        long seed,
        double seconds,
        Duration archiveAfter,
        Duration allowance,
        int documents,
        int connections,
        int rate,
        Set<Hardship> hardships,
        @Nullable Lie lie,
        Path directory) {

    HostLossOptions {
        hardships = hardships.isEmpty() ? EnumSet.noneOf(Hardship.class) : EnumSet.copyOf(hardships);
    }

    /** The age at which a change must be in the archive. */
    long boundNanos() {
        return archiveAfter.plus(allowance).toNanos();
    }

    /** Where the store of a server is that serves in this round. */
    Path data(int round) {
        return directory.resolve("data-" + round);
    }

    /** Where the output of servers goes. */
    Path log() {
        return directory.resolve("servers.log");
    }

    /** Where the output of other commands goes. */
    Path commandLog() {
        return directory.resolve("commands.log");
    }
}
