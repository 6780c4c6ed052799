package io.caravan.server.archive;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks on several threads, and passes their results to a consumer on the submitting thread, in the order of
 * completion, so that no result waits for a slow task. The number of tasks without a consumed result is limited. Not
 * thread-safe.
 *
 * @param <R> a result
 */
public final class Pipeline<R> implements AutoCloseable {
    private static final int AHEAD = 8;
    private static final int TIMEOUT_SECONDS = 60;

    private final ExecutorService executor;
    private final CompletionService<R> tasks;
    private final Consumer<R> results;
    private final int limit;
    private int inProgress;

    /** Creates a pipeline with up to eight tasks per thread. */
    public Pipeline(int threads, Consumer<R> results) {
        this.executor = Executors.newFixedThreadPool(threads, new DefaultThreadFactory("caravan-archive", true));
        this.tasks = new ExecutorCompletionService<>(executor);
        this.results = results;
        this.limit = threads * AHEAD;
    }

    /**
     * Submits a task. Then passes on the results of tasks that have ended, and waits while there are too many tasks.
     * Throws the exception of a task or of the consumer of its result.
     */
    public void submit(Callable<R> task) {
        tasks.submit(task);
        inProgress++;
        passOn(limit);
    }

    /** Waits for all results. Throws the exception of a task or of the consumer of its result. */
    public void finish() {
        passOn(0);
    }

    /** Passes on the results that are complete, and waits for more while too many tasks are in progress. */
    private void passOn(int most) {
        try {
            Future<R> next = inProgress > most ? tasks.take() : tasks.poll();
            while (next != null) {
                inProgress--;
                results.accept(next.get());
                next = inProgress > most ? tasks.take() : tasks.poll();
            }
        } catch (ExecutionException failed) {
            throw unchecked(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while work on an archive was in progress", interrupted);
        }
    }

    /** Returns another thread's exception as an unchecked one, to be rethrown. */
    static RuntimeException unchecked(@Nullable Throwable cause) {
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
