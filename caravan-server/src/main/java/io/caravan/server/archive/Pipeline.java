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
 * most eight tasks per thread are running or waiting. Not thread-safe.
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

    public Pipeline(int threads, Consumer<R> results) {
        this.executor = Executors.newFixedThreadPool(threads, new DefaultThreadFactory("caravan-archive", true));
        this.results = results;
        this.most = threads * AHEAD;
    }

    /**
     * Submits a task; waits while too many are running or waiting. Throws the exception of an earlier task or of the
     * consumer of its result.
     */
    public void submit(Callable<R> work) {
        if (underWay.size() == most) {
            handOn();
        }
        underWay.add(executor.submit(work));
    }

    /** Waits for all tasks. Throws the exception of a task or of the consumer of its result. */
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

    /** Returns an exception of another thread, to be rethrown; throws an {@link Error} at once. */
    static RuntimeException unchecked(@Nullable Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
    }

    /**
     * Cancels waiting tasks and interrupts running ones, then waits up to a minute for the running ones: they may be
     * deleting objects.
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
