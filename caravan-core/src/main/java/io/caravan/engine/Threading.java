package io.caravan.engine;

import io.caravan.UninterruptibleThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;

/**
 * Everything an engine needs of threads, and of chance: the workers, how its callers wait for them, and ids. With {@link #THREADS} the
 * workers are threads; a simulator runs their steps itself, on the only thread there is, whenever something waits or
 * does I/O, and so decides by seed what happens between any two I/O calls.
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
