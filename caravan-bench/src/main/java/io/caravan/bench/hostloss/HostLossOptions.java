package io.caravan.bench.hostloss;

import io.caravan.bench.s3.S3Software;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The options of a drill.
 *
 * @param s3 the S3 server of the archive; already installed
 * @param seconds how long a server serves beyond the maximum age
 * @param archiveAfter the maximum age of an unarchived change, passed to the server
 * @param allowance how much longer archiving may take
 * @param rate requests a second
 * @param lie damage done to the archive before the restore; null for none
 * @param directory for stores, objects and the output of processes
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

    /** The store directory of this round's server. */
    Path data(int round) {
        return directory.resolve("data-" + round);
    }

    /** The log of the servers' output. */
    Path log() {
        return directory.resolve("servers.log");
    }

    /** The log of other commands' output. */
    Path commandLog() {
        return directory.resolve("commands.log");
    }
}
