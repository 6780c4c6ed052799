package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that wait for workers, a bounded number; a name has at most one that waits and one in hand. Jobs that somebody waits
 * for go first, and even while a {@link BackOff} has all others wait.
 *
 * <p><b>Threading.</b> One lock, under which nothing waits for anything else, guards everything.
 */
final class JobQueue {
    private final int capacity;
    private final BackOff backOff;
    private final ReentrantLock lock = new ReentrantLock();
    /** A job has come, or a pause may have ended. */
    private final Condition work = lock.newCondition();
    /** A job has gone, or the walker is wanted. */
    private final Condition progress = lock.newCondition();

    private final Deque<Job> ordinary = new ArrayDeque<>();
    private final Deque<Job> urgent = new ArrayDeque<>();
    private final Map<DocumentName, Job> waiting = new HashMap<>();
    private final Map<DocumentName, Job> inHand = new HashMap<>();
    private boolean open;
    private boolean ended;
    private boolean woken;

    /**
     * A queue that gives nothing out before it is {@linkplain #open opened}.
     *
     * @param capacity how many jobs of each kind may wait
     */
    JobQueue(int capacity, BackOff backOff) {
        this.capacity = capacity;
        this.backOff = backOff;
    }

    /** Has workers get jobs, or none for now. */
    void open(boolean now) {
        locked(() -> {
            open = now;
            work.signalAll();
        });
    }

    /**
     * Adds a job, or adds to the one that waits for the name.
     *
     * @param what says what is to be done, under the lock
     * @return false when there is no room, and nothing was added
     */
    boolean offer(DocumentName name, Consumer<Job> what) {
        return add(name, what, ordinary);
    }

    /** The same for somebody who waits for the answer. */
    boolean request(DocumentName name, Consumer<Job> what) {
        return add(name, what, urgent);
    }

    private boolean add(DocumentName name, Consumer<Job> what, Deque<Job> queue) {
        lock.lock();
        try {
            Job running = inHand.get(name);
            if (running != null) {
                // What it is doing may have begun before what it is asked for now.
                what.accept(running.makeNext());
                return true;
            }
            Job job = waiting.get(name);
            if (ended || job == null && queue.size() >= capacity) {
                return false;
            }
            if (job == null) {
                job = new Job(name);
                enqueue(job, queue);
            } else if (queue == urgent && ordinary.remove(job)) {
                urgent.add(job);
            }
            what.accept(job);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void enqueue(Job job, Deque<Job> queue) {
        waiting.put(job.name(), job);
        queue.add(job);
        work.signal();
    }

    /**
     * Waits for a job, which is then in the caller's hands until it is {@linkplain #done done} or {@linkplain #putBack put
     * back}; null when there will be none any more.
     */
    @Nullable
    Job take() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            Job job = poll();
            while (job == null && !ended) {
                awaitWork();
                job = poll();
            }
            return job;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Job poll() {
        if (ended || !open) {
            return null;
        }
        Job job = urgent.poll();
        if (job == null && backOff.remainingNanos() == 0) {
            job = ordinary.poll();
        }
        if (job != null) {
            waiting.remove(job.name());
            inHand.put(job.name(), job);
            progress.signalAll();
        }
        return job;
    }

    private void awaitWork() throws InterruptedException {
        long pauseNanos = backOff.remainingNanos();
        if (open && pauseNanos > 0) {
            work.awaitNanos(pauseNanos);
        } else {
            work.await();
        }
    }

    /** A job has been done, or is given up until it is found again. */
    void done(Job job) {
        locked(() -> {
            inHand.remove(job.name());
            Job next = job.next();
            if (next != null) {
                enqueue(next, next.requested() ? urgent : ordinary);
            }
            progress.signalAll();
        });
    }

    /** A job has failed and is to be tried again, before those that wait. */
    void putBack(Job job) {
        locked(() -> {
            inHand.remove(job.name());
            job.absorbNext();
            waiting.put(job.name(), job);
            (job.requested() ? urgent : ordinary).addFirst(job);
            work.signal();
            progress.signalAll();
        });
    }

    /** Whether there is room for a good part of what the queue takes: going back for less would not pay. */
    boolean roomy() {
        lock.lock();
        try {
            return !ended && ordinary.size() <= capacity / 2;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for a time, or until there is {@linkplain #roomy() room}, or somebody {@linkplain #wake() wakes} the one waiting.
     *
     * @param room whether room ends the wait
     */
    void awaitRoom(long nanos, boolean room) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = nanos;
            while (left > 0 && !woken && !(room && roomy())) {
                left = progress.awaitNanos(left);
            }
            woken = false;
        } finally {
            lock.unlock();
        }
    }

    /** Ends {@link #awaitRoom}, now or when it comes next. */
    void wake() {
        locked(() -> {
            woken = true;
            progress.signalAll();
        });
    }

    /** Waits until nothing waits and nothing is in hand; returns false when that takes longer, or never will be. */
    boolean awaitIdle(long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = nanos;
            while (left > 0 && !ended && !idle()) {
                left = progress.awaitNanos(left);
            }
            return idle();
        } finally {
            lock.unlock();
        }
    }

    private boolean idle() {
        return waiting.isEmpty() && inHand.isEmpty();
    }

    /** Gives nothing out any more, and tells those who wait for answers why. */
    void end(Throwable why) {
        List<Job> dropped = new ArrayList<>();
        locked(() -> {
            ended = true;
            dropped.addAll(waiting.values());
            waiting.clear();
            ordinary.clear();
            urgent.clear();
            work.signalAll();
            progress.signalAll();
        });
        dropped.forEach(job -> job.fail(why));
    }

    private void locked(Runnable action) {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }
}
