package io.caravan.testing;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what tells nobody when it happens. */
public final class Eventually {
    private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private Eventually() {}

    /** Returns when the condition holds; fails when that takes too long. */
    public static void await(String what, BooleanSupplier condition) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(StoreCalls.PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new AssertionError("not within " + StoreCalls.PATIENCE_SECONDS + " seconds: " + what);
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** Returns when the thread waits for something, or has ended without waiting. */
    public static void awaitWaitingOrDone(Thread thread) {
        await(thread + " waits or ends", () -> switch (thread.getState()) {
            case WAITING, TIMED_WAITING, TERMINATED -> true;
            case NEW, RUNNABLE, BLOCKED -> false;
        });
    }
}
