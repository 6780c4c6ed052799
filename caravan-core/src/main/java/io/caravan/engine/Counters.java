package io.caravan.engine;

/** Plain counters, guarded by the store's lock. */
final class Counters {
    long appends;
    long appendedBytes;
    long trims;
    long deletes;
    long refusals;
    long failures;
    long forces;
    long logBytes;
    long checkpoints;
    long lastCheckpointNanos;
    long pinnedReaders;
    final Histogram batchRecords = new Histogram();
    final Histogram forceNanos = new Histogram();
    final Histogram ackNanos = new Histogram();
    final RecentHistogram recentAckNanos;

    Counters(long nowNanos) {
        recentAckNanos = new RecentHistogram(nowNanos);
    }
}
