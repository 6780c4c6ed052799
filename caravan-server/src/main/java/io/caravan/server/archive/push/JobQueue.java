package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.document.Deletion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue of jobs for the workers. For each name, at most one job waits and one is in progress. Requested names
 * are in a second queue, which takes precedence and does not wait for the {@link BackOff}. While the queue is closed,
 * it hands out no jobs, and requests fail at once.
 *
 * <p><b>Threading.</b> Thread-safe. The monitor guards everything; no thread blocks while holding it.
 */
final class JobQueue {
    private final int capacity;
    private final BackOff backOff;
    private final LongSupplier nanoTime;
    private final Supplier<? extends Throwable> refusal;

    /** Each waiting job is in one of the queues. If its name is in progress, it is queued afterwards. */
    private final Map<DocumentName, Job> waiting = new HashMap<>();

    private final Set<DocumentName> inHand = new HashSet<>();
    // A job may be in several queues. Once taken from one, it is skipped in the others.
    private final Queue<Job> ordinary = new ArrayDeque<>();
    private final Queue<Job> requested = new ArrayDeque<>();
    /** Jobs that were put off, in the order of their times. */
    private final Queue<Job> later = new ArrayDeque<>();

    private boolean open;
    private boolean ended;
    private boolean woken;

    /**
     * Creates a closed queue.
     *
     * @param capacity the limit of each queue
     * @param refusal the reason why the queue is closed
     */
    JobQueue(int capacity, BackOff backOff, LongSupplier nanoTime, Supplier<? extends Throwable> refusal) {
        this.capacity = capacity;
        this.backOff = backOff;
        this.nanoTime = nanoTime;
        this.refusal = refusal;
    }

    /** The pending work for one name. The queue's monitor guards it while it waits; then its worker owns it. */
    static final class Job {
        final DocumentName name;
        /** Deletions that the archive does not have, oldest first, with the scans in which the survey counts them. */
        final Map<Deletion, BacklogTracker.Place> deletions = new LinkedHashMap<>();
        /** The scan in which the survey counts the document, or null when no scan has found it changed. */
        BacklogTracker.@Nullable Place place;

        private final List<CompletableFuture<Archived>> requests = new ArrayList<>();
        private long dueNanos;
        private int failures;
        private long successesAtFirstFailure;
        private boolean putOff;

        Job(DocumentName name) {
            this.name = name;
        }

        void answer(Archived archived) {
            withdrawRequests().forEach(request -> request.complete(archived));
        }

        /** Fails the requests. The job itself may be retried. */
        void fail(Throwable problem) {
            withdrawRequests().forEach(request -> request.completeExceptionally(problem));
        }

        private List<CompletableFuture<Archived>> withdrawRequests() {
            List<CompletableFuture<Archived>> withdrawn = List.copyOf(requests);
            requests.clear();
            return withdrawn;
        }

        /** Returns true once: a job may be put off once. */
        boolean mayPutOff() {
            boolean first = !putOff;
            putOff = true;
            return first;
        }

        /**
         * Counts a failure.
         *
         * @param successes number of successes of all jobs so far
         * @return whether it has failed several times while others succeeded
         */
        boolean failedAlone(long successes, int patience) {
            if (failures == 0) {
                successesAtFirstFailure = successes;
            }
            failures++;
            return failures >= patience && successes != successesAtFirstFailure;
        }

        private void absorb(Job other) {
            deletions.putAll(other.deletions);
            requests.addAll(other.requests);
            place = other.place == null ? place : other.place;
        }
    }

    /** Opens the queue to the workers. */
    synchronized void open() {
        open = true;
        notifyAll();
    }

    /**
     * Closes the queue to the workers, and fails the waiting requests.
     *
     * @param forEver false if the queue may be opened again; the jobs then wait
     */
    void close(boolean forEver) {
        List<CompletableFuture<Archived>> refused = new ArrayList<>();
        synchronized (this) {
            open = false;
            waiting.values().forEach(job -> refused.addAll(job.withdrawRequests()));
            ordinary.addAll(requested);
            requested.clear();
            if (forEver) {
                ended = true;
                waiting.clear();
                ordinary.clear();
                later.clear();
                notifyAll();
            }
        }
        refused.forEach(request -> request.completeExceptionally(refusal.get()));
    }

    /**
     * Adds a job, or extends the waiting job of the name.
     *
     * @param what extends the job, under the monitor
     * @return false if there was no space, or the queue has ended: nothing was added
     */
    synchronized boolean offer(DocumentName name, Consumer<Job> what) {
        Job job = waiting.get(name);
        if (job == null) {
            if (ended || ordinary.size() >= capacity) {
                return false;
            }
            job = new Job(name);
            waiting.put(name, job);
            enqueue(job);
        }
        what.accept(job);
        return true;
    }

    /**
     * Requests that a document be archived as soon as possible. A job in progress may have begun too early, so another
     * one completes the request.
     */
    synchronized CompletableFuture<Archived> request(DocumentName name) {
        if (!open) {
            return CompletableFuture.failedFuture(refusal.get());
        }
        if (requested.size() >= capacity) {
            return CompletableFuture.failedFuture(new ArchiveException(
                    Reason.NOT_FOUND, "the archive takes no more requests to archive documents now; try again later"));
        }
        Job job = waiting.computeIfAbsent(name, Job::new);
        CompletableFuture<Archived> request = new CompletableFuture<>();
        job.requests.add(request);
        if (job.requests.size() == 1) {
            enqueue(job);
        }
        return request;
    }

    private void enqueue(Job job) {
        if (!inHand.contains(job.name)) {
            (job.requests.isEmpty() ? ordinary : requested).add(job);
            notifyAll();
        }
    }

    /**
     * Waits for a job, which the caller must mark {@linkplain #done done} or {@linkplain #putBack put back}. Returns
     * null if the queue has ended.
     */
    @Nullable
    synchronized Job take() throws InterruptedException {
        while (!ended) {
            long pauseNanos = backOff.remainingNanos();
            Job job = open ? poll(pauseNanos > 0) : null;
            if (job != null) {
                inHand.add(job.name);
                notifyAll();
                return job;
            }
            if (!open || pauseNanos == 0 && later.isEmpty()) {
                wait();
            } else {
                waitNanos(pauseNanos > 0 ? pauseNanos : later.element().dueNanos - nanoTime.getAsLong());
            }
        }
        return null;
    }

    private @Nullable Job poll(boolean paused) {
        Job job;
        do {
            job = requested.poll();
            if (job == null && !paused) {
                while (!later.isEmpty() && later.element().dueNanos - nanoTime.getAsLong() <= 0) {
                    ordinary.add(later.remove());
                }
                job = ordinary.poll();
            }
        } while (job != null && !waiting.remove(job.name, job));
        return job;
    }

    private void waitNanos(long nanos) throws InterruptedException {
        // Waits at least a millisecond: less would be rounded to 0, which waits forever.
        wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
    }

    /** Records that a job is done, or is discarded until the walker finds it again. */
    synchronized void done(Job job) {
        inHand.remove(job.name);
        Job next = waiting.get(job.name);
        if (next != null) {
            enqueue(next);
        }
        notifyAll();
    }

    /**
     * Puts back a failed job, to be retried after a time and after all waiting jobs, because it may fail again. If too
     * many jobs are put off, it is discarded until the walker finds it again.
     *
     * @param nanos the time, or 0 for none
     */
    synchronized void putBack(Job job, long nanos) {
        inHand.remove(job.name);
        notifyAll();
        Job next = waiting.remove(job.name);
        if (next != null) {
            job.absorb(next);
        }
        boolean putOff = nanos > 0 && job.requests.isEmpty();
        if (ended || putOff && later.size() >= capacity) {
            return;
        }
        waiting.put(job.name, job);
        if (putOff) {
            job.dueNanos = nanoTime.getAsLong() + nanos;
            later.add(job);
        } else {
            enqueue(job);
        }
    }

    /** Whether half of the capacity is free; a scan for less would be too expensive. */
    synchronized boolean roomy() {
        return !ended && ordinary.size() <= capacity / 2;
    }

    /**
     * Waits for a time, or until there is {@linkplain #roomy() space}, or until {@link #wake} is called.
     *
     * @param room whether space ends the wait
     */
    synchronized void awaitRoom(long nanos, boolean room) throws InterruptedException {
        await(nanos, () -> woken || room && roomy());
        woken = false;
    }

    /** Ends the current or the next {@link #awaitRoom}. */
    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    /** Waits until no job waits or is in progress. Returns false if that takes longer, or if the queue ends first. */
    synchronized boolean awaitIdle(long nanos) throws InterruptedException {
        await(nanos, () -> ended || idle());
        return idle();
    }

    private boolean idle() {
        return waiting.isEmpty() && inHand.isEmpty();
    }

    private void await(long nanos, BooleanSupplier end) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !end.getAsBoolean(); left = deadline - System.nanoTime()) {
            waitNanos(left);
        }
    }
}
