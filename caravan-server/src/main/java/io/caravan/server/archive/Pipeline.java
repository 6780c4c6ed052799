package io.caravan.server.archive;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks on several threads and passes their results on in the order of submission, on the submitting thread. At
 * most eight tasks per thread are running or waiting. For one thread.
 *
 * @param <R> a result
 */
public final class Pipeline<R> implements AutoCloseable {
    private static final int AHEAD = 8;
    private static final int PATIENCE_SECONDS = 60;

    private final ExecutorService executor;
    private final Consumer<R> results;
    private final int most;
    private final Deque<Future<R>> underWay = new ArrayDeque<>();

    /** Creates a pipeline with this number of threads. */
    public Pipeline(int threads, Consumer<R> results) {
        this.executor = Executors.newFixedThreadPool(threads, new DefaultThreadFactory("caravan-archive", true));
        this.results = results;
        this.most = threads * AHEAD;
    }

    /**
     * Submits a task; waits while too many are running or waiting. Throws what an earlier task, or using its result,
     * threw.
     */
    public void submit(Callable<R> work) {
        if (underWay.size() == most) {
            handOn();
        }
        underWay.add(executor.submit(work));
    }

    /** Waits for all tasks. Throws what a task, or using its result, threw. */
    public void finish() {
        while (!underWay.isEmpty()) {
            handOn();
        }
    }

    private void handOn() {
        R result;
        try {
            result = underWay.remove().get();
        } catch (ExecutionException failed) {
            throw unchecked(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while work on an archive was under way", interrupted);
        }
        results.accept(result);
    }

    /** Returns what another thread threw, to be rethrown; throws an error at once. */
    static RuntimeException unchecked(@Nullable Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
    }

    /**
     * Cancels waiting tasks and interrupts running ones, then waits up to a minute for these, which may be deleting
     * something.
     */
    @Override
    public void close() {
        executor.shutdownNow();
        try {
            executor.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
