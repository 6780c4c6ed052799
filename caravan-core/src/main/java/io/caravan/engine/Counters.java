package io.caravan.engine;

import io.caravan.index.ListIndex;

/** The counters for the store's statistics, guarded by the store's lock. */
final class Counters {
    final Writes documents = new Writes();
    final Writes bookkeeping = new Writes();
    long rejections;
    long failures;
    long fsyncs;
    long logBytes;
    long checkpoints;
    long lastCheckpointNanos;
    long pinnedReaders;
    final Histogram flushRecords = new Histogram();
    final Histogram fsyncNanos = new Histogram();
    final Histogram ackNanos = new Histogram();
    final Histogram.Recent recentAckNanos;

    /** The counters for accepted writes to one kind of list: documents or bookkeeping. */
    static final class Writes {
        long appends;
        long appendedBytes;
        long trims;
        long deletes;
    }

    Counters(long nowNanos) {
        recentAckNanos = new Histogram.Recent(nowNanos);
    }

    /** Returns the counters for writes to a list with this id. */
    Writes writes(long id) {
        return ListIndex.isBookkeeping(id) ? bookkeeping : documents;
    }
}
