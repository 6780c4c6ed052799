package io.caravan.engine;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A store thread: runs a step again and again, and in between waits as long as the step says, or until it is woken. All
 * of a step's work is in the step, so a test can run the steps itself, without a thread.
 */
final class Worker {
    /** What a step answers when only being woken can give it work. */
    static final long UNTIL_WOKEN = Long.MAX_VALUE;

    /** One unit of work. */
    @FunctionalInterface
    interface Step {
        /** Does what there is to do; returns the nanoseconds until there may be more, 0 for at once. */
        long run();
    }

    /** Marks the threads that must never wait for the store, as the store may be waiting for them. */
    static final class StoreThread extends Thread {
        StoreThread(Runnable task, String name) {
            super(task, name);
            setDaemon(true);
        }
    }

    private final Step step;
    private final Consumer<Throwable> crashed;
    private final Thread thread;
    private volatile boolean parked;
    private volatile boolean woken;
    private volatile boolean stopping;

    Worker(String name, Step step, Consumer<Throwable> crashed) {
        this.step = step;
        this.crashed = crashed;
        this.thread = new StoreThread(this::loop, name);
    }

    static boolean onStoreThread() {
        return Thread.currentThread() instanceof StoreThread;
    }

    void start() {
        thread.start();
    }

    private void loop() {
        while (!stopping) {
            long waitNanos = runStep();
            if (waitNanos > 0) {
                pause(waitNanos);
            }
        }
    }

    private long runStep() {
        try {
            return step.run();
        } catch (Throwable failed) {
            crashed.accept(failed);
            return UNTIL_WOKEN;
        }
    }

    private void pause(long nanos) {
        parked = true;
        if (!woken && !stopping) {
            LockSupport.parkNanos(this, nanos);
        }
        parked = false;
        woken = false;
    }

    /** Makes the worker run its step soon. */
    void wake() {
        woken = true;
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    /** Stops after the step under way and returns when the thread has ended. */
    void stop() {
        stopping = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
