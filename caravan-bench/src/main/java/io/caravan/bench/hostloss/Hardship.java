package io.caravan.bench.hostloss;

/** What is done beside losing the host. */
enum Hardship {
    /** The way to S3 is disturbed, and its server killed or stopped, before the host is lost. */
    FAULTS,
    /** The restore is killed at random moments, and started again until it ends by itself. */
    KILL_RESTORE,
    /** A prune runs while the server archives, and is killed at random moments. */
    KILL_PRUNE
}
