package io.caravan.engine;

import io.caravan.FlushPolicy;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Computes the delay of a {@link FlushPolicy} from the durations of past flushes, and waits until the end of a delay
 * with high precision. Used only by the thread that has begun a flush or may begin one.
 */
final class FlushDelay {
    /** Weight of the newest measurement in the running averages. */
    private static final double WEIGHT = 1.0 / 8;

    /**
     * Upper bound on the delay, in case a measurement is wrong, for example because the disk stalled or the clock
     * jumped.
     */
    private static final long MAX_ADAPTIVE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * The maximum duration of a quick flush. A longer flush would keep a writer's thread from its other work for too
     * long, whereas a handover to the flusher takes tens of microseconds.
     */
    private static final long QUICK_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /** The length of the spin loop at the end of a wait. */
    private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    private static final long NOT_WORTH_SPINNING_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final FlushPolicy policy;
    private final LongSupplier clock;
    private final boolean spins;
    private double fsyncNanos;
    private double arrivalsPerNano;
    private long lastFlushNanos;
    private int lastCount;
    private boolean flushed;

    FlushDelay(FlushPolicy policy, LongSupplier clock, int cores) {
        this.policy = policy;
        this.clock = clock;
        this.spins = cores > 1;
    }

    /** Returns the delay between a commit's first write and the commit's flush, in nanoseconds. */
    long nanos() {
        return policy.isAdaptive() ? adaptiveNanos() : policy.delayNanos();
    }

    /** Whether recent flushes were quick enough for a writer to perform the next flush itself. */
    boolean quick() {
        return flushed && fsyncNanos < QUICK_NANOS;
    }

    private long adaptiveNanos() {
        boolean lone = lastCount <= 1;
        if (lone || arrivalsPerNano == 0) {
            return 0;
        }
        double nanos = Math.min(Math.sqrt(fsyncNanos / arrivalsPerNano), fsyncNanos);
        return Math.min((long) nanos, MAX_ADAPTIVE_NANOS);
    }

    /** Records that a flush of this many writes has just ended. */
    void flushed(int count, long tookNanos, long nowNanos) {
        long sinceLast = nowNanos - lastFlushNanos;
        fsyncNanos = average(fsyncNanos, Math.max(tookNanos, 0));
        if (flushed && sinceLast > 0) {
            arrivalsPerNano = average(arrivalsPerNano, (double) count / sinceLast);
        }
        flushed = true;
        lastFlushNanos = nowNanos;
        lastCount = count;
    }

    private static double average(double before, double now) {
        return before == 0 ? now : before + WEIGHT * (now - before);
    }

    /**
     * Returns the time, in nanoseconds, for which the caller must park before it calls this method again. Returns 0,
     * possibly after spinning, once the instant is reached or {@code cutShort} returns true.
     *
     * <p>Every sleep on Linux ends about 75 microseconds late, whichever API is used, so the last part of a wait is a
     * spin loop. There is no spin loop on a single core, where it would delay other threads, or in waits of 20 ms or
     * more, where the delay does not matter.
     */
    long parkOrSpin(long instantNanos, BooleanSupplier cutShort) {
        long remaining = instantNanos - clock.getAsLong();
        long spin = spins && remaining < NOT_WORTH_SPINNING_NANOS ? SPIN_NANOS : 0;
        while (remaining > 0 && !cutShort.getAsBoolean()) {
            if (remaining > spin) {
                return remaining - spin;
            }
            Thread.onSpinWait();
            remaining = instantNanos - clock.getAsLong();
        }
        return 0;
    }
}
