package io.caravan.bench.scaling;

import io.caravan.bench.report.Figure;

/** The figures of a store of one size. */
final class SizeFigures {
    static final Figure APPEND_NANOS = new Figure("append, ns", "%,.0f");
    static final Figure GET_NANOS = new Figure("get of 10 entries, ns", "%,.0f");
    static final Figure GET_LAST_NANOS = new Figure("get of the last entry, ns", "%,.0f");
    static final Figure GET_MISSING_NANOS = new Figure("get of a missing list, ns", "%,.0f");
    static final Figure RANDOM_READ_NANOS = new Figure("random read of memory, ns", "%,.1f");
    static final Figure OPEN_MILLIS = new Figure("open after a clean close, ms", "%,.1f");
    static final Figure OPEN_KILLED_MILLIS = new Figure("open after a kill, ms", "%,.1f");
    static final Figure REPLAY_MB_PER_SECOND = new Figure("log replayed by it, MB/s", "%,.0f");
    static final Figure LOG_READ_MILLIS = new Figure("read and checksum of the log, ms", "%,.1f");
    static final Figure LOG_READ_MB_PER_SECOND = new Figure("the same, MB/s", "%,.0f");
    static final Figure LOCK_P999_MICROS = new Figure("hold of the lock, p99.9, us", "%,.1f");
    static final Figure LOCK_MAX_MICROS = new Figure("longest hold of the lock, us", "%,.1f");
    static final Figure CHECKPOINT_MILLIS = new Figure("checkpoint, ms", "%,.1f");
    static final Figure VERIFY_MILLIS = new Figure("verify, ms", "%,.1f");
    static final Figure MEMORY_MB = new Figure("Java heap, MB", "%,.1f");
    static final Figure MEMORY_RATIO = new Figure("Java heap / (12 B an entry + 100 B a list)", "%,.2f");

    private SizeFigures() {}
}
