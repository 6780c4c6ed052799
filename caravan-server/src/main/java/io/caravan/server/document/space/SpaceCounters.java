package io.caravan.server.document.space;

import java.util.concurrent.atomic.LongAdder;

/**
 * The rate limits of a space, and its counters since the server started. Both survive changes of the space's settings.
 * Thread-safe.
 */
final class SpaceCounters {
    final RateLimit writeRate;
    final RateLimit byteRate;
    final LongAdder writes;
    final LongAdder bytes;
    final LongAdder retired;
    final LongAdder rejectedSizes;
    final LongAdder rejectedQuotas;
    final LongAdder rejectedRates;

    SpaceCounters(long nowNanos) {
        this(
                new RateLimit(nowNanos),
                new RateLimit(nowNanos),
                new LongAdder(),
                new LongAdder(),
                new LongAdder(),
                new LongAdder(),
                new LongAdder(),
                new LongAdder());
    }

    private SpaceCounters(
            RateLimit writeRate,
            RateLimit byteRate,
            LongAdder writes,
            LongAdder bytes,
            LongAdder retired,
            LongAdder rejectedSizes,
            LongAdder rejectedQuotas,
            LongAdder rejectedRates) {
        this.writeRate = writeRate;
        this.byteRate = byteRate;
        this.writes = writes;
        this.bytes = bytes;
        this.retired = retired;
        this.rejectedSizes = rejectedSizes;
        this.rejectedQuotas = rejectedQuotas;
        this.rejectedRates = rejectedRates;
    }

    /** Returns the same counters, with other rate limits. */
    SpaceCounters with(RateLimit otherWriteRate, RateLimit otherByteRate) {
        return new SpaceCounters(
                otherWriteRate, otherByteRate, writes, bytes, retired, rejectedSizes, rejectedQuotas, rejectedRates);
    }
}
