package io.caravan.server.net;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one client that are waiting for a resource that all clients share, such as a reading thread or space in
 * the store. The tasks are dropped when the client disconnects, so that the shared queues do not retain memory that no
 * budget counts anymore. Thread-safe.
 */
public final class WaitingTasks {
    private final List<Task> tasks = new ArrayList<>(0);
    private boolean closed;

    /** Returns a task that runs the work at most once, and never after {@link #close}. */
    public synchronized Runnable add(Runnable work) {
        Task task = new Task(this, closed ? null : work);
        if (!closed) {
            tasks.add(task);
        }
        return task;
    }

    public synchronized void close() {
        closed = true;
        tasks.forEach(task -> task.work = null);
        tasks.clear();
    }

    private synchronized @Nullable Runnable begin(Task task) {
        Runnable work = task.work;
        task.work = null;
        tasks.remove(task);
        return work;
    }

    private static final class Task implements Runnable {
        private final WaitingTasks owner;
        /** The work of this task; null after the task has started or been dropped. Guarded by the owner. */
        private @Nullable Runnable work;

        Task(WaitingTasks owner, @Nullable Runnable work) {
            this.owner = owner;
            this.work = work;
        }

        @Override
        public void run() {
            Runnable begun = owner.begin(this);
            if (begun != null) {
                begun.run();
            }
        }
    }
}
