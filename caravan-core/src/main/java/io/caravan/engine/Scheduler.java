package io.caravan.engine;

import io.caravan.UninterruptibleThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Creates an engine's workers and store ids, and implements its waits. With {@link #THREADS}, the workers are threads.
 * A simulator runs one worker at a time, and a seed determines which worker is next. The simulator may switch to
 * another worker whenever a worker waits, does I/O, takes or releases a lock, wakes a worker, or reads a value that
 * another worker has published.
 */
public interface Scheduler {

    /** A scheduler whose workers are daemon threads and whose waits block the caller's thread. */
    Scheduler THREADS = new Scheduler() {
        @Override
        public Worker worker(String name, Worker.Step step, Consumer<Throwable> crashed) {
            return new WorkerThread(name, step, crashed);
        }

        @Override
        public void await(Condition changed) {
            changed.awaitUninterruptibly();
        }

        @Override
        public <T> T join(CompletableFuture<T> done) {
            return done.join();
        }
    };

    /**
     * Whether this thread may access the store's files. Such a thread must ignore interrupts, which would close the
     * files.
     */
    default boolean mayTouchFiles() {
        return Thread.currentThread() instanceof UninterruptibleThread;
    }

    /** Runs a worker's task on this thread. The task must not wait for the store. */
    default void doInstead(Runnable work) {
        WorkerThread.asStoreThread(work);
    }

    /**
     * Returns a lock for the store's threads. A simulator may switch threads before the lock is taken and after it is
     * released.
     */
    default ReentrantLock newLock() {
        return new ReentrantLock();
    }

    /** Marks a read of a value that another thread may publish without a lock. A simulator may switch threads here. */
    default void handOver() {}

    /**
     * Returns a new store id. A simulator always returns the same id, because the id affects which data a simulated
     * crash tears.
     */
    default long newStoreId() {
        return NewStore.newStoreId();
    }

    /**
     * Creates a worker without starting it.
     *
     * @param crashed is called with any exception that a step throws; the worker then waits to be woken
     */
    Worker worker(String name, Worker.Step step, Consumer<Throwable> crashed);

    /**
     * Releases the condition's lock, which the caller holds, until the condition is signaled or a spurious wakeup
     * occurs. Preserves the interrupt status.
     */
    void await(Condition changed);

    /** Waits for the future as {@link CompletableFuture#join()} does. */
    <T> T join(CompletableFuture<T> done);
}
