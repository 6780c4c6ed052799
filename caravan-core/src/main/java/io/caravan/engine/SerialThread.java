package io.caravan.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs tasks sequentially on its own daemon thread, which is created for the first task. The queue is unbounded. */
public final class SerialThread implements Executor, AutoCloseable {
    private final ExecutorService executor;
    private volatile @Nullable Thread thread;

    public SerialThread(String name) {
        executor = Executors.newSingleThreadExecutor(task -> {
            Thread created = new Thread(task, name);
            created.setDaemon(true);
            thread = created;
            return created;
        });
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(task);
    }

    /** Whether the caller is running in a task of this thread. Such a task must not wait for a later task. */
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /** Rejects further tasks, and waits until the accepted tasks are done. Returns at once if called from a task. */
    @Override
    public void close() {
        executor.shutdown();
        DedicatedThread.awaitUninterruptibly(
                () -> isCurrent() || executor.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS));
    }
}
