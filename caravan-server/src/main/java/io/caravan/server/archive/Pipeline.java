package io.caravan.server.archive;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks on several threads, and passes their results to a consumer on the submitting thread. The number of tasks
 * without a consumed result is limited. Not thread-safe.
 *
 * @param <R> a result
 */
public final class Pipeline<R> implements AutoCloseable {
    private static final int AHEAD = 8;
    private static final int TIMEOUT_SECONDS = 60;

    private final ExecutorService executor;
    private final boolean inOrder;
    private final Consumer<R> results;
    private final int limit;
    /** The tasks whose results are consumed next: all tasks in the order of submission, or those that have ended. */
    private final BlockingQueue<FutureTask<R>> next = new LinkedBlockingQueue<>();

    private int inProgress;

    /**
     * Creates a pipeline with up to eight tasks per thread.
     *
     * @param inOrder whether results are passed on in the order of submission; otherwise, in the order of completion,
     *     so that no result waits for a slow task
     */
    public Pipeline(int threads, boolean inOrder, Consumer<R> results) {
        this.executor = Executors.newFixedThreadPool(threads, new DefaultThreadFactory("caravan-archive", true));
        this.inOrder = inOrder;
        this.results = results;
        this.limit = threads * AHEAD;
    }

    /**
     * Submits a task. First passes on the results of tasks that have ended, and waits while there are too many tasks.
     * Throws the exception of an earlier task or of the consumer of its result.
     */
    public void submit(Callable<R> callable) {
        passOn(limit - 1);
        FutureTask<R> task = new FutureTask<>(callable) {
            @Override
            protected void done() {
                if (!inOrder) {
                    next.add(this);
                }
            }
        };
        if (inOrder) {
            next.add(task);
        }
        inProgress++;
        executor.execute(task);
    }

    /** Waits for all results. Throws the exception of a task or of the consumer of its result. */
    public void finish() {
        passOn(0);
    }

    /** Passes on the results that are complete, and waits for more while too many tasks are in progress. */
    private void passOn(int most) {
        try {
            while (inProgress > most || hasEnded(next.peek())) {
                inProgress--;
                results.accept(next.take().get());
            }
        } catch (ExecutionException failed) {
            throw unchecked(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while work on an archive was in progress", interrupted);
        }
    }

    private static boolean hasEnded(@Nullable FutureTask<?> task) {
        return task != null && task.isDone();
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
