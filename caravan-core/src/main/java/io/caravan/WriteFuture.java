package io.caravan;

import io.caravan.engine.SerialThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * What becomes of one write. Completes on the store's executor for futures, and not on the thread that tells callbacks,
 * so that whatever depends on it may read the store.
 */
final class WriteFuture extends CompletableFuture<Long> implements WriteCallback {
    private final Executor executor;

    private WriteFuture(Executor executor) {
        this.executor = executor;
    }

    /** Starts a write; what it throws as a refusal becomes the future's problem. */
    static CompletableFuture<Long> of(ListStore store, Consumer<WriteCallback> write) {
        WriteFuture future = new WriteFuture(store.futureExecutor());
        try {
            write.accept(future);
        } catch (CaravanException refused) {
            future.completeExceptionally(refused);
        }
        return future;
    }

    @Override
    public void success(long sequence) {
        handOver(() -> complete(sequence));
    }

    @Override
    public void failure(CaravanException problem) {
        handOver(() -> completeExceptionally(problem));
    }

    /** To an executor that takes nothing more, the future is worth more completed here than never. */
    private void handOver(Runnable completion) {
        try {
            executor.execute(completion);
        } catch (RejectedExecutionException closed) {
            completion.run();
        }
    }

    @Override
    public Long join() {
        checkMayWait();
        return super.join();
    }

    @Override
    public Long get() throws InterruptedException, ExecutionException {
        checkMayWait();
        return super.get();
    }

    @Override
    public Long get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        checkMayWait();
        return super.get(timeout, unit);
    }

    /** One thread completes all futures, so one that waits there would wait for itself. */
    private void checkMayWait() {
        if (!isDone() && executor instanceof SerialThread thread && thread.isCurrent()) {
            throw new IllegalStateException(
                    "a future of this store was waited for by what depends on another, on the one"
                            + " thread that completes them all; use thenCompose, or one of the Async methods");
        }
    }
}
