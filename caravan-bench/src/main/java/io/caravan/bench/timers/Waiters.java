package io.caravan.bench.timers;

import io.caravan.engine.PreciseSleeper;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The ways to wait without an additional thread. */
final class Waiters {
    private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private Waiters() {}

    /** {@link Thread#sleep(long, int)}, which rounds to milliseconds before Java 21. */
    static Waiter sleep() {
        return nanos -> {
            long start = System.nanoTime();
            Thread.sleep(nanos / NANOS_PER_MILLI, (int) (nanos % NANOS_PER_MILLI));
            return System.nanoTime() - start;
        };
    }

    /** {@link LockSupport#parkNanos(long)}, repeated when it returns too early. */
    static Waiter park() {
        return nanos -> {
            long start = System.nanoTime();
            long left = nanos;
            while (left > 0) {
                LockSupport.parkNanos(left);
                left = start + nanos - System.nanoTime();
            }
            return System.nanoTime() - start;
        };
    }

    /** Like the store's flusher: parks for most of the delay and spins at its end. */
    static Waiter parkAndSpin() {
        PreciseSleeper sleeper =
                new PreciseSleeper(System::nanoTime, Runtime.getRuntime().availableProcessors());
        return nanos -> {
            long start = System.nanoTime();
            long end = start + nanos;
            for (long park = sleeper.parkOrSpin(end, () -> false); park > 0; ) {
                LockSupport.parkNanos(park);
                park = sleeper.parkOrSpin(end, () -> false);
            }
            return System.nanoTime() - start;
        };
    }

    /** Reads the clock until the delay is over. */
    static Waiter spin() {
        return nanos -> {
            long start = System.nanoTime();
            long now = start;
            while (now - start < nanos) {
                Thread.onSpinWait();
                now = System.nanoTime();
            }
            return now - start;
        };
    }
}
