package io.caravan.bench.hostloss;

/** An additional fault besides losing the host. */
enum Hardship {
    /** The connection to S3 is disturbed, and the S3 server killed or stopped, before the host is lost. */
    FAULTS,
    /** The restore is killed at random moments, and restarted until it completes. */
    KILL_RESTORE,
    /** A prune runs while the server archives, and is killed at random moments. */
    KILL_PRUNE
}
