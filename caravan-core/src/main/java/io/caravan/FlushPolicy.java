package io.caravan;

import java.time.Duration;

/**
 * Determines how long the flusher waits for more writes before it flushes.
 *
 * <p>Every flush costs one fsync, regardless of the number of writes. Waiting trades latency for fewer fsyncs.
 */
public sealed interface FlushPolicy {

    /** Flushes whenever the flusher is free. Writes that arrive during an fsync form the next batch. */
    static FlushPolicy immediate() {
        return Immediate.INSTANCE;
    }

    /**
     * Flushes once this delay has passed since the first pending write was accepted; earlier if a buffer is full, or if
     * a read, a call of {@code flush()}, or a writer that needs space is waiting.
     *
     * @param delay from 0 to one minute
     */
    static FlushPolicy fixedDelay(Duration delay) {
        return new FixedDelay(FixedDelay.nanos(delay));
    }

    /**
     * Waits only if waiting reduces the total cost. For the measured fsync time {@code tau} and arrival rate {@code
     * lambda}, the delay is {@code sqrt(tau / lambda)}, but at most one fsync time and at most 20 ms. A lone writer
     * that waits for each acknowledgement is not delayed.
     *
     * <p>The formula minimizes the sum of the waiting time and the cost of fsyncs for Poisson arrivals. It follows the
     * analysis of group commit by Helland, Sammer, Lyon, Carr, Garrett and Reuter, "Group Commit Timers and High Volume
     * Transaction Systems" (1987).
     */
    static FlushPolicy adaptive() {
        return Adaptive.INSTANCE;
    }

    /** The policy that {@link #immediate()} returns. */
    enum Immediate implements FlushPolicy {
        INSTANCE
    }

    /**
     * The policy that {@link #fixedDelay(Duration)} returns.
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

    /** The policy that {@link #adaptive()} returns. */
    enum Adaptive implements FlushPolicy {
        INSTANCE
    }
}
