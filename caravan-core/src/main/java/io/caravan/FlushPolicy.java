package io.caravan;

import java.time.Duration;

/**
 * How long the flusher waits for more writes before it flushes those it has.
 *
 * <p>Every flush costs one force of the disk however many writes it covers; waiting trades latency for fewer forces.
 */
public sealed interface FlushPolicy {

    /** Flushes whenever the flusher is free. Batches form by themselves while a force is under way. */
    static FlushPolicy immediate() {
        return Immediate.INSTANCE;
    }

    /**
     * Flushes this long after the first waiting write was accepted, or earlier when a buffer is full or a read, a flush
     * or a writer without room waits for it.
     *
     * @param delay from 0 to one minute
     */
    static FlushPolicy fixedDelay(Duration delay) {
        return new FixedDelay(FixedDelay.nanos(delay));
    }

    /**
     * Waits only when it pays: from the measured force time {@code tau} and arrival rate {@code lambda} the wait is
     * {@code sqrt(tau / lambda)}, never more than one force, and nothing for a lone writer that waits for each answer.
     * The formula is the optimum of (waiting + cost of forces) for Poisson arrivals, as in the analysis of group commit
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
