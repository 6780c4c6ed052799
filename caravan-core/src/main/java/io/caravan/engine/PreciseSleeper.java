package io.caravan.engine;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Waits until an instant, with high precision. Every sleep on Linux ends about 75 microseconds late, whichever API is used, so the
 * last part of a wait is a spin loop. It does not spin on a machine with a single core, where a spin loop would delay
 * other threads, or in waits of 20 ms or more, where the delay does not matter.
 */
public final class PreciseSleeper {
    private static final long SPIN_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final long NOT_WORTH_SPINNING_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final LongSupplier clock;
    private final boolean spins;

    public PreciseSleeper(LongSupplier clock, int cores) {
        this.clock = clock;
        this.spins = cores > 1;
    }

    /**
     * Returns the time, in nanoseconds, for which the caller must park before it calls this method again. Returns 0,
     * possibly after spinning, once the instant is reached or {@code cutShort} returns true.
     */
    public long parkOrSpin(long instantNanos, BooleanSupplier cutShort) {
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
