package io.caravan.server.archive;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks on several threads, and passes their results to a consumer on the submitting thread. A task may end before
 * another thread completes its result. The number of tasks without a consumed result is limited. Not thread-safe.
 *
 * @param <R> a result
 */
public final class Pipeline<R> implements AutoCloseable {
    private static final int AHEAD = 8;
    private static final int TIMEOUT_SECONDS = 60;

    private final ExecutorService executor;
    private final Consumer<R> results;
    private final int limit;
    private final boolean inOrder;
    /** The results in the order in which they are consumed: the order of submission or of completion. */
    private final BlockingQueue<CompletableFuture<R>> next = new LinkedBlockingQueue<>();

    private int inProgress;

    /** Creates a pipeline that passes on results in the order of submission, with up to eight tasks per thread. */
    public Pipeline(int threads, Consumer<R> results) {
        this(threads, threads * AHEAD, true, results);
    }

    /**
     * Creates a pipeline.
     *
     * @param limit maximum number of tasks whose results have not been consumed
     * @param inOrder whether results are passed on in the order of submission; otherwise, in the order of completion,
     *     so that no result waits for a slow task
     */
    public Pipeline(int threads, int limit, boolean inOrder, Consumer<R> results) {
        this.executor = Executors.newFixedThreadPool(threads, new DefaultThreadFactory("caravan-archive", true));
        this.results = results;
        this.limit = limit;
        this.inOrder = inOrder;
    }

    /** Submits a task that returns its result; otherwise works like {@link #submit(Consumer)}. */
    public void submit(Supplier<R> task) {
        submit(result -> result.complete(task.get()));
    }

    /**
     * Submits a task that completes its result itself, on any thread. First passes on results that are complete, and
     * waits while there are too many tasks. Throws the exception of an earlier task or of the consumer of its result.
     */
    public void submit(Consumer<CompletableFuture<R>> task) {
        while (inProgress == limit || isComplete(next.peek())) {
            passOn();
        }
        CompletableFuture<R> result = new CompletableFuture<>();
        inProgress++;
        if (inOrder) {
            next.add(result);
        } else {
            result.whenComplete((value, problem) -> next.add(result));
        }
        executor.execute(() -> {
            try {
                task.accept(result);
            } catch (RuntimeException | Error failed) {
                result.completeExceptionally(failed);
            }
        });
    }

    private static boolean isComplete(@Nullable CompletableFuture<?> result) {
        return result != null && result.isDone();
    }

    /** Waits for all results. Throws the exception of a task or of the consumer of its result. */
    public void finish() {
        while (inProgress > 0) {
            passOn();
        }
    }

    private void passOn() {
        R result;
        try {
            inProgress--;
            result = next.take().get();
        } catch (ExecutionException failed) {
            throw unchecked(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while work on an archive was in progress", interrupted);
        }
        results.accept(result);
    }

    /** Returns another thread's exception as an unchecked one, to be rethrown; throws an {@link Error} at once. */
    static RuntimeException unchecked(@Nullable Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
    }

    /**
     * Cancels waiting tasks and interrupts running ones, then waits up to a minute for the running ones, because they
     * may be deleting objects.
     */
    @Override
    public void close() {
        executor.shutdownNow();
        try {
            executor.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
