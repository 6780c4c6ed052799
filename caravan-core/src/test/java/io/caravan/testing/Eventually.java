package io.caravan.testing;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Polls for events that send no notification. */
public final class Eventually {
    private static final long FIRST_POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    /** The longest pause between polls. Pauses grow, because a poll may use a server on the same processors. */
    private static final long MAX_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private Eventually() {}

    /** Waits until the condition holds. If that takes too long, prints the stacks of all threads and fails. */
    public static void await(String what, BooleanSupplier condition) {
        await(() -> what, condition);
    }

    /**
     * Waits until the condition holds. If that takes too long, prints the stacks of all threads and fails.
     *
     * @param what describes the condition and, once the wait has taken too long, the current state
     */
    public static void await(Supplier<String> what, BooleanSupplier condition) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(StoreCalls.TIMEOUT_SECONDS);
        long pollNanos = FIRST_POLL_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadlineNanos > 0) {
                printStacks();
                throw new AssertionError("not within " + StoreCalls.TIMEOUT_SECONDS + " seconds: " + what.get());
            }
            LockSupport.parkNanos(pollNanos);
            pollNanos = Math.min(pollNanos + pollNanos / 4, MAX_POLL_NANOS);
        }
    }

    /**
     * Waits on the monitor, which the caller has entered, until another thread notifies it and the condition holds.
     *
     * @param problem describes the state once the wait has taken too long
     */
    public static void awaitNotified(Object monitor, BooleanSupplier condition, Supplier<String> problem) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(StoreCalls.TIMEOUT_SECONDS);
        while (!condition.getAsBoolean()) {
            long leftMillis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
            if (leftMillis <= 0) {
                throw new AssertionError("not within " + StoreCalls.TIMEOUT_SECONDS + " seconds: " + problem.get());
            }
            try {
                monitor.wait(leftMillis);
            } catch (InterruptedException interrupted) {
                throw new AssertionError("interrupted", interrupted);
            }
        }
    }

    private static void printStacks() {
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            System.out.println(thread.getName() + " " + thread.getState());
            Arrays.stream(frames).forEach(frame -> System.out.println("    " + frame));
        });
    }

    /** Runs the task on a new thread. Returns when that thread is waiting, or has ended without waiting. */
    public static void runUntilWaiting(Runnable task) {
        Thread thread = new Thread(task, "runs until it waits");
        thread.start();
        awaitWaitingOrDone(thread);
    }

    /** Waits until the thread is waiting, or has ended without waiting. */
    public static void awaitWaitingOrDone(Thread thread) {
        await(thread + " waits or ends", () -> switch (thread.getState()) {
            case WAITING, TIMED_WAITING, TERMINATED -> true;
            case NEW, RUNNABLE, BLOCKED -> false;
        });
    }
}
