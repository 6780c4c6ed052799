package io.caravan.engine;

import io.caravan.UninterruptibleThread;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A {@link Worker} with its own thread, which parks between its steps. */
final class WorkerThread implements Worker {
    private static final Logger LOG = LoggerFactory.getLogger(WorkerThread.class);

    /** A thread that must never wait for the store, because the store may be waiting for it. */
    static final class StoreThread extends UninterruptibleThread {
        StoreThread(Runnable task, String name) {
            super(task, name);
            setDaemon(true);
        }
    }

    /** Set while a thread that is not a store thread does the work of a store thread. */
    private static final ThreadLocal<Boolean> LENT = new ThreadLocal<>();

    private final Step step;
    private final Consumer<Throwable> crashed;
    private final Thread thread;
    private volatile boolean parked;
    private volatile boolean woken;
    private volatile boolean stopping;

    WorkerThread(String name, Step step, Consumer<Throwable> crashed) {
        this.step = step;
        this.crashed = crashed;
        this.thread = new StoreThread(this::loop, name);
    }

    static boolean onStoreThread() {
        return Thread.currentThread() instanceof StoreThread || LENT.get() != null;
    }

    /**
     * Does the work of a store thread on this thread, which counts as a store thread until the work is done. The work
     * may do the same for another store.
     */
    static void asStoreThread(Runnable work) {
        boolean outermost = LENT.get() == null;
        LENT.set(true);
        try {
            work.run();
        } finally {
            if (outermost) {
                LENT.remove();
            }
        }
    }

    /**
     * Runs a user's action; {@code what} names the action in log messages. Anything that it throws is logged and has no
     * other effect, even an {@link Error}: a stack overflow in a callback, for example, does not affect the engine.
     */
    static void runUserCode(String what, Runnable action) {
        try {
            action.run();
        } catch (Throwable thrown) {
            logUserCode(what, thrown);
        }
    }

    /**
     * Logs an exception that user code has thrown, unless the logger throws too. A caller that may not use a lambda
     * catches the exception itself.
     */
    static void logUserCode(String what, Throwable thrown) {
        try {
            LOG.error("{} threw an exception; the store continues", what, thrown);
        } catch (Throwable notLogged) {
            // The caller must continue with the other callbacks.
        }
    }

    @Override
    public void start() {
        thread.start();
    }

    private void loop() {
        while (!stopping) {
            long waitNanos = UNTIL_WOKEN;
            try {
                waitNanos = step.run();
            } catch (Throwable failed) {
                reportCrash(failed);
            }
            if (waitNanos > 0) {
                pause(waitNanos);
            }
        }
    }

    /** Reports a failed step. */
    private void reportCrash(Throwable failed) {
        try {
            crashed.accept(failed);
        } catch (Throwable notLogged) {
            // The handler logs last, and a logger may throw. The thread must still notify the waiting calls.
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

    @Override
    public void wake() {
        woken = true;
        if (parked) {
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void stop() {
        stopping = true;
        LockSupport.unpark(thread);
        DedicatedThread.awaitUninterruptibly(() -> {
            thread.join();
            return true;
        });
    }
}
