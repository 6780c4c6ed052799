package io.caravan.bench.timers;

import io.caravan.engine.PreciseSleeper;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The ways to wait that need no thread of their own. */
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

    /** {@link LockSupport#parkNanos(long)}, again when it returns too early. */
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

    /** As the store's flusher waits: parks for all but the last stretch, which it spins. */
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

    /** Looks at the clock until it is time. */
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
