package io.caravan.server.net;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one client that are waiting for a resource that all clients share, such as a reading thread or space in
 * the store. The tasks are dropped when the client disconnects, so that the shared queues do not retain memory that no
 * budget counts anymore. Thread-safe.
 */
public final class WaitingTasks {
    /** The work of each task; null after the task has started or been dropped. Guarded by this. */
    private final List<AtomicReference<@Nullable Runnable>> tasks = new ArrayList<>(0);

    private boolean closed;

    /** Returns a task that runs the work at most once, and never after {@link #close}. */
    public synchronized Runnable add(Runnable work) {
        AtomicReference<@Nullable Runnable> task = new AtomicReference<>(closed ? null : work);
        if (!closed) {
            tasks.add(task);
        }
        return () -> run(task);
    }

    public synchronized void close() {
        closed = true;
        tasks.forEach(task -> task.set(null));
        tasks.clear();
    }

    private void run(AtomicReference<@Nullable Runnable> task) {
        Runnable work = task.getAndSet(null);
        if (work != null) {
            synchronized (this) {
                tasks.remove(task);
            }
            work.run();
        }
    }
}
