package io.caravan.engine;

import io.caravan.UninterruptibleThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Everything an engine needs of threads, and of chance: the workers, how its callers wait for them, and ids. With {@link #THREADS} the
 * workers are threads. A simulator has one of them run at a time, and decides by seed which one goes on whenever
 * something waits, does I/O, takes or releases a lock, wakes a worker, or reads what another has published.
 */
public interface Threading {

    /** Each worker is a daemon thread, and waiting is waiting. */
    Threading THREADS = new Threading() {
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

    /** Whether this thread may touch the store's files: an interrupt would close them. */
    default boolean mayTouchFiles() {
        return Thread.currentThread() instanceof UninterruptibleThread;
    }

    /** Does a worker's work on this thread, which must not wait for the store meanwhile. */
    default void doInstead(Runnable work) {
        WorkerThread.asStoreThread(work);
    }

    /** A lock that orders the store's threads. A simulator may switch threads before it is taken and after its release. */
    default ReentrantLock newLock() {
        return new ReentrantLock();
    }

    /** Precedes the read of a value that another thread may publish without a lock. A simulator may switch threads here. */
    default void handOver() {}

    /** A number that no other store has. A simulator gives one that is always the same, as it decides what is torn. */
    default long newStoreId() {
        return StoreFactory.newStoreId();
    }

    /**
     * A worker that is not started yet.
     *
     * @param crashed is called with what a step threw, after which the worker waits to be woken
     */
    Worker worker(String name, Worker.Step step, Consumer<Throwable> crashed);

    /**
     * Lets go of the condition's lock, which the caller holds, until the condition is signalled or for no reason at
     * all; keeps the interrupt status.
     */
    void await(Condition changed);

    /** Waits for the future as {@link CompletableFuture#join()} does. */
    <T> T join(CompletableFuture<T> done);
}
