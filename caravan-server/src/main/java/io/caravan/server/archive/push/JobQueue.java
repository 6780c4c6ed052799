package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.Archiver.Archived;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that wait for workers, a bounded number; a name has at most one that waits and one in hand. Jobs that somebody
 * waits for go first, and even while a {@link BackOff} has all others wait. While the queue hands out nothing, requests
 * fail at once with the reason.
 *
 * <p><b>Threading.</b> One lock, under which nothing waits for anything else, guards everything.
 */
final class JobQueue {
    private final int capacity;
    private final BackOff backOff;
    private final LongSupplier nanoTime;
    private final ReentrantLock lock = new ReentrantLock();
    /** A job has come, or a pause may have ended. */
    private final Condition work = lock.newCondition();
    /** A job has gone, or the walker is wanted. */
    private final Condition progress = lock.newCondition();

    private final Deque<Job> ordinary = new ArrayDeque<>();
    private final Deque<Job> urgent = new ArrayDeque<>();
    /** Those that were put off, by rising time. */
    private final Deque<PutOff> later = new ArrayDeque<>();

    private final Map<DocumentName, Job> waiting = new HashMap<>();
    private final Map<DocumentName, Job> inHand = new HashMap<>();
    private boolean open;
    private boolean ended;
    private boolean woken;
    /** Why it is not open. */
    private volatile Throwable refusal = new IllegalStateException("the queue is not open yet");

    /**
     * A queue that hands out nothing until it is {@linkplain #open opened}.
     *
     * @param capacity how many jobs of each kind may wait
     */
    JobQueue(int capacity, BackOff backOff, LongSupplier nanoTime) {
        this.capacity = capacity;
        this.backOff = backOff;
        this.nanoTime = nanoTime;
    }

    /** A job that is not given out before its time. */
    private record PutOff(Job job, long dueNanos) {}

    /** Hands jobs to workers from now on. */
    void open() {
        locked(() -> {
            open = true;
            work.signalAll();
            return List.of();
        });
    }

    /** Hands out no jobs for now. Requests that wait fail with the reason. */
    void pause(Throwable why) {
        refuse(locked(() -> {
            List<CompletableFuture<Archived>> requests = close(why);
            ordinary.addAll(urgent);
            urgent.clear();
            return requests;
        }));
    }

    private List<CompletableFuture<Archived>> close(Throwable why) {
        open = false;
        refusal = why;
        List<CompletableFuture<Archived>> requests = new ArrayList<>();
        urgent.forEach(job -> requests.addAll(job.withdrawRequests()));
        return requests;
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

    /** The same for somebody who waits for the answer; false also while the queue is not open. */
    boolean request(DocumentName name, Consumer<Job> what) {
        return add(name, what, urgent);
    }

    private boolean add(DocumentName name, Consumer<Job> what, Deque<Job> queue) {
        lock.lock();
        try {
            if (ended || queue == urgent && !open) {
                return false;
            }
            Job running = inHand.get(name);
            if (running != null) {
                // What it is doing may have begun before what it is asked for now.
                what.accept(running.makeNext());
                return true;
            }
            Job job = waiting.get(name);
            if (job == null) {
                return queue.size() < capacity && addNew(name, what);
            }
            if (queue == urgent && (ordinary.remove(job) || later.removeIf(putOff -> putOff.job() == job))) {
                urgent.add(job);
                work.signal();
            }
            what.accept(job);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private boolean addNew(DocumentName name, Consumer<Job> what) {
        Job job = new Job(name);
        what.accept(job);
        enqueue(job);
        return true;
    }

    /**
     * Waits for a job, which is then in the caller's hands until it is {@linkplain #done done} or {@linkplain #putBack
     * put back}; null when there will be none any more.
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
            takeUpWhatIsDue();
            job = ordinary.poll();
        }
        if (job != null) {
            waiting.remove(job.name());
            inHand.put(job.name(), job);
            progress.signalAll();
        }
        return job;
    }

    private void takeUpWhatIsDue() {
        long now = nanoTime.getAsLong();
        while (!later.isEmpty() && later.element().dueNanos() - now <= 0) {
            ordinary.add(later.remove().job());
        }
    }

    private void awaitWork() throws InterruptedException {
        long pauseNanos = backOff.remainingNanos();
        if (pauseNanos == 0 && !later.isEmpty()) {
            pauseNanos = later.element().dueNanos() - nanoTime.getAsLong();
        }
        if (open && pauseNanos > 0) {
            work.awaitNanos(pauseNanos);
        } else {
            work.await();
        }
    }

    /** A job has been done, or is given up until it is found again. */
    void done(Job job) {
        refuse(locked(() -> {
            gone(job);
            Job next = job.next();
            return next == null ? List.of() : enqueue(next);
        }));
    }

    /** A job has failed and is to be tried again, after those that wait: it may fail for ever, and they not. */
    void putBack(Job job) {
        refuse(locked(() -> {
            gone(job);
            job.absorbNext();
            return enqueue(job);
        }));
    }

    /**
     * A job has failed and is to be tried again after a time; when too many have, it is given up until it is found
     * again.
     */
    void putOff(Job job, long nanos) {
        refuse(locked(() -> {
            gone(job);
            job.absorbNext();
            if (job.requested()) {
                return enqueue(job);
            }
            if (!ended && later.size() < capacity) {
                waiting.put(job.name(), job);
                later.add(new PutOff(job, nanoTime.getAsLong() + nanos));
                work.signal();
            }
            return List.of();
        }));
    }

    private void gone(Job job) {
        inHand.remove(job.name());
        progress.signalAll();
    }

    /** Lets a job wait, unless the queue has ended. Returns the job's requests that must not wait. */
    private List<CompletableFuture<Archived>> enqueue(Job job) {
        List<CompletableFuture<Archived>> refused = open ? List.of() : job.withdrawRequests();
        if (!ended) {
            waiting.put(job.name(), job);
            (job.requested() ? urgent : ordinary).add(job);
            work.signal();
        }
        return refused;
    }

    private void refuse(List<CompletableFuture<Archived>> requests) {
        requests.forEach(request -> request.completeExceptionally(refusal));
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
     * Waits for a time, or until there is {@linkplain #roomy() room}, or somebody {@linkplain #wake() wakes} the one
     * waiting.
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
            return List.of();
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

    /** Ends the queue. Requests that wait fail with the reason. */
    void end(Throwable why) {
        refuse(locked(() -> {
            ended = true;
            List<CompletableFuture<Archived>> requests = close(why);
            waiting.clear();
            ordinary.clear();
            urgent.clear();
            later.clear();
            work.signalAll();
            progress.signalAll();
            return requests;
        }));
    }

    private <T> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }
}
