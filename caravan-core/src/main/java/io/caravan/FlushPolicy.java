package io.caravan;

import java.time.Duration;

/**
 * The time that the flusher waits for more writes before it flushes.
 *
 * <p>Every flush costs one fsync, regardless of the number of writes. Waiting trades latency for fewer fsyncs.
 */
public sealed interface FlushPolicy {

    /** Flushes whenever the flusher is free. Writes that arrive during an fsync form the next batch. */
    static FlushPolicy immediate() {
        return Immediate.INSTANCE;
    }

    /**
     * Flushes this long after the first pending write was accepted. Flushes earlier if a buffer is full, or if a read,
     * a flush, or a writer that needs space waits for it.
     *
     * @param delay from 0 to one minute
     */
    static FlushPolicy fixedDelay(Duration delay) {
        return new FixedDelay(FixedDelay.nanos(delay));
    }

    /**
     * Waits only if that reduces the total cost. From the measured fsync time {@code tau} and the arrival rate {@code
     * lambda}, the delay is {@code sqrt(tau / lambda)}, at most one fsync time and 20 ms. A lone writer that waits for
     * each acknowledgement is not delayed.
     *
     * <p>The formula minimizes (waiting + cost of fsyncs) for Poisson arrivals. It follows the analysis of group commit
     * by Helland, Sammer, Lyon, Carr, Garrett and Reuter, "Group Commit Timers and High Volume Transaction Systems"
     * (1987).
     */
    static FlushPolicy adaptive() {
        return Adaptive.INSTANCE;
    }

    /** See {@link #immediate()}. */
    enum Immediate implements FlushPolicy {
        INSTANCE
    }

    /**
     * See {@link #fixedDelay(Duration)}.
     *
     * @param delayNanos from 0 to one minute
     */
    record FixedDelay(long delayNanos) implements FlushPolicy {
        private static final Duration MAX = Duration.ofMinutes(1);

        public FixedDelay {
            Arguments.between(delayNanos, 0, MAX.toNanos(), "delayNanos");
        }

        static long nanos(Duration delay) {
            if (delay.isNegative() || delay.compareTo(MAX) > 0) {
                throw new IllegalArgumentException("delay must be from 0 to " + MAX + ", was " + delay);
            }
            return delay.toNanos();
        }
    }

    /** See {@link #adaptive()}. */
    enum Adaptive implements FlushPolicy {
        INSTANCE
    }
}
