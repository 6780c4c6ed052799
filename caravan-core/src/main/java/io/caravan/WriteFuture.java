package io.caravan;

import io.caravan.engine.Engine;
import io.caravan.engine.SerialThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * The future of a write, or a future that depends on it. Completes on the store's future executor rather than on the
 * callback thread, so dependent stages may read from the store.
 *
 * <p>Waiting for the future throws {@link IllegalStateException} on store threads and on the thread that completes the
 * futures, because the wait would never end. Futures made by {@link CompletableFuture#allOf} and {@link
 * CompletableFuture#anyOf} lack this check.
 */
final class WriteFuture<T> extends CompletableFuture<T> {
    private final Executor executor;

    private WriteFuture(Executor executor) {
        this.executor = executor;
    }

    /**
     * Starts a write to a list, and returns its future. If the store rejects the write, the future completes with the
     * exception that the store throws.
     */
    static CompletableFuture<Long> of(ListStore store, long id, Consumer<WriteCallback> write) {
        ListStore shard = store instanceof ShardedStore sharded ? sharded.shardOf(id) : store;
        WriteFuture<Long> future = new WriteFuture<>(shard.futureExecutor());
        try {
            write.accept(new WriteCallback() {
                @Override
                public void success(long sequence) {
                    future.handOver(() -> future.complete(sequence));
                }

                @Override
                public void failure(CaravanException problem) {
                    future.handOver(() -> future.completeExceptionally(problem));
                }
            });
        } catch (CaravanException rejected) {
            future.completeExceptionally(rejected);
        }
        return future;
    }

    /** Submits the completion to the executor. If the executor rejects it, the future completes on this thread. */
    private void handOver(Runnable completion) {
        try {
            executor.execute(completion);
        } catch (RejectedExecutionException closed) {
            completion.run();
        } catch (RuntimeException | Error broken) {
            completion.run();
            throw broken;
        }
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new WriteFuture<>(executor);
    }

    @Override
    public T join() {
        checkMayWait();
        return super.join();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        checkMayWait();
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        checkMayWait();
        return super.get(timeout, unit);
    }

    private void checkMayWait() {
        if (isDone()) {
            return;
        }
        if (Engine.onStoreThread()) {
            throw new IllegalStateException("a thread that calls a store's callbacks waited for a future of a store"
                    + " or listeners, and would never complete; use thenCompose, or wait on another thread");
        }
        if (executor instanceof SerialThread thread && thread.isCurrent()) {
            throw new IllegalStateException(
                    "a future of this store was waited for by what depends on another, on the one"
                            + " thread that completes them all; use thenCompose, or one of the Async methods");
        }
    }
}
