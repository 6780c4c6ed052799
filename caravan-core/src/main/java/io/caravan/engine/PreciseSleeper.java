package io.caravan.engine;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Waits for an instant, precisely: every sleep on Linux ends some 75 microseconds late whatever the API, so the last
 * stretch is spun. Only that stretch is, and not on a single core, where it would be in the way, nor in waits so long
 * that the delay does not matter.
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
     * How long to park before asking again; 0 once the instant has come, or {@code cutShort} holds, for which this may
     * have spun.
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
