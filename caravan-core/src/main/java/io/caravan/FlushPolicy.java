package io.caravan;

import java.time.Duration;

/**
 * Determines how long the flusher waits for more writes before it flushes.
 *
 * <p>Every flush costs one fsync, regardless of the number of writes. Waiting trades latency for fewer fsyncs.
 *
 * @param delayNanos the fixed delay, from 0 to one minute; ignored if the policy is adaptive
 * @param isAdaptive whether the delay depends on the measured fsync time and arrival rate
 */
public record FlushPolicy(long delayNanos, boolean isAdaptive) {
    private static final Duration MAX_DELAY = Duration.ofMinutes(1);
    private static final FlushPolicy IMMEDIATE = new FlushPolicy(0, false);
    private static final FlushPolicy ADAPTIVE = new FlushPolicy(0, true);

    public FlushPolicy {
        Arguments.between(delayNanos, 0, MAX_DELAY.toNanos(), "delayNanos");
    }

    /**
     * Returns a policy that flushes whenever the flusher is free. Writes that arrive during an fsync are flushed
     * together afterwards.
     */
    public static FlushPolicy immediate() {
        return IMMEDIATE;
    }

    /**
     * Returns a policy that flushes once this delay has passed since the first pending write was accepted. The store
     * flushes earlier if a buffer is full, or if a read, a call to {@code flush()}, or a writer that needs space is
     * waiting.
     *
     * @param delay from 0 to one minute
     */
    public static FlushPolicy fixedDelay(Duration delay) {
        return new FlushPolicy(nanos(delay), false);
    }

    static long nanos(Duration delay) {
        if (delay.isNegative() || delay.compareTo(MAX_DELAY) > 0) {
            throw new IllegalArgumentException("delay must be from 0 to " + MAX_DELAY + ", was " + delay);
        }
        return delay.toNanos();
    }

    /**
     * Returns a policy that waits only if waiting reduces the total cost. For the measured fsync time {@code tau} and
     * arrival rate {@code lambda}, the delay is {@code sqrt(tau / lambda)}, but at most one fsync time and at most 20
     * ms. A lone writer that waits for each acknowledgment is not delayed.
     *
     * <p>The formula minimizes the sum of the waiting time and the cost of fsyncs for Poisson arrivals. It follows the
     * analysis of group commit by Helland, Sammer, Lyon, Carr, Garrett and Reuter, "Group Commit Timers and High Volume
     * Transaction Systems" (1987).
     */
    public static FlushPolicy adaptive() {
        return ADAPTIVE;
    }
}
