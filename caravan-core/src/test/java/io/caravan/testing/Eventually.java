package io.caravan.testing;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for what tells nobody when it happens. */
public final class Eventually {
    private static final long FIRST_POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    /** What takes long is looked at less often: each look may ask a server that shares the processors. */
    private static final long MAX_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private Eventually() {}

    /** Returns when the condition holds. Prints the stacks of all threads and fails when that takes too long. */
    public static void await(String what, BooleanSupplier condition) {
        await(() -> what, condition);
    }

    /**
     * Returns when the condition holds. Prints the stacks of all threads and fails when that takes too long.
     *
     * @param what describes the condition, and the state that it was found in, once it has taken too long
     */
    public static void await(Supplier<String> what, BooleanSupplier condition) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(StoreCalls.PATIENCE_SECONDS);
        long pollNanos = FIRST_POLL_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadlineNanos > 0) {
                printStacks();
                throw new AssertionError("not within " + StoreCalls.PATIENCE_SECONDS + " seconds: " + what.get());
            }
            LockSupport.parkNanos(pollNanos);
            pollNanos = Math.min(pollNanos + pollNanos / 4, MAX_POLL_NANOS);
        }
    }

    private static void printStacks() {
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            System.out.println(thread.getName() + " " + thread.getState());
            Arrays.stream(frames).forEach(frame -> System.out.println("    " + frame));
        });
    }

    /** Returns when the thread waits for something, or has ended without waiting. */
    public static void awaitWaitingOrDone(Thread thread) {
        await(thread + " waits or ends", () -> switch (thread.getState()) {
            case WAITING, TIMED_WAITING, TERMINATED -> true;
            case NEW, RUNNABLE, BLOCKED -> false;
        });
    }
}
