package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.push.ArchiveSlot.Backlog;
import io.caravan.server.archive.push.ArchiveSlot.Change;
import io.caravan.server.archive.push.ArchiveSlot.Verification;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.document.DeletionRecord;
import io.caravan.server.document.DocumentService;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The documents to archive, by name and due time. There is at most one job for each name. A requested job takes
 * precedence and does not wait for the {@link BackOff}. While the schedule is closed, no job is taken, and requests
 * fail at once.
 *
 * <p>The number of waiting jobs is limited. A change for which there is no space, or whose job has failed, is merely
 * counted in its slot until the next scan of the slot finds it again. If there was no space, that scan takes place as
 * soon as there is space. A slot is a stripe of the documents; the last slot contains the deletions.
 *
 * <p>When the archive may lack generations that the documents' marks record, a slot is unverified until the jobs of all
 * its documents have succeeded.
 *
 * <p><b>Threading.</b> Thread-safe. The monitor guards everything; no thread blocks while holding it.
 */
final class ArchiveSchedule {
    /** The number of the slot that contains the deletions. */
    static final int DELETIONS = DocumentService.STRIPES;

    static final int SLOTS = DELETIONS + 1;

    private final int capacity;
    private final BackOff backOff;
    private final LongSupplier nanoTime;
    private final long startNanos;
    private final Supplier<? extends Throwable> rejection;

    private final ArchiveSlot[] slots;
    private int unverifiedSlots;

    /** The waiting and running jobs, by document name. A waiting job is in one of the queues. */
    private final Map<DocumentName, Job> jobs = new HashMap<>();

    private final TreeSet<Job> waiting =
            new TreeSet<>(Comparator.<Job>comparingLong(job -> job.dueNanos).thenComparingLong(job -> job.number));
    private final Queue<Job> requested = new ArrayDeque<>();
    private long lastNumber;

    private boolean open;
    private boolean ended;
    private boolean woken;

    /**
     * Creates a closed schedule, with a limit on the jobs that wait, and on those that are requested.
     *
     * @param rejection provides the reason why the schedule is closed
     */
    ArchiveSchedule(
            int capacity,
            BackOff backOff,
            LongSupplier nanoTime,
            long startMillis,
            Supplier<? extends Throwable> rejection) {
        this.capacity = capacity;
        this.backOff = backOff;
        this.nanoTime = nanoTime;
        this.startNanos = nanoTime.getAsLong();
        this.rejection = rejection;
        this.slots =
                Stream.generate(() -> new ArchiveSlot(startMillis)).limit(SLOTS).toArray(ArchiveSlot[]::new);
    }

    /** The archiving work for one document name. */
    static final class Job {
        final DocumentName name;
        /** The request that the current run completes; the job's worker owns this field and the next three. */
        private @Nullable CompletableFuture<Archived> current;

        private int failures;
        private long successesAtFirstFailure;
        private boolean putOff;

        /** The slot in which a scan has found the document, or null. The monitor guards this and all other fields. */
        private @Nullable ArchiveSlot slot;
        /** Deletions that the archive does not have, oldest first. */
        private final Set<DeletionRecord> deletions = new LinkedHashSet<>();
        /** The backlog of this job: the document, if it is in a slot, and the deletions. */
        private final Backlog backlog = new Backlog();

        private @Nullable Verification verification;
        private @Nullable CompletableFuture<Archived> request;
        private boolean running;
        /** Whether the job must run again, because a change was found or a request arrived while it was running. */
        private boolean again;

        private long dueNanos;
        private long number;

        Job(DocumentName name) {
            this.name = name;
        }

        /** Whether the current run completes a request. */
        boolean isRequested() {
            return current != null;
        }

        void complete(Archived archived) {
            if (current != null) {
                current.complete(archived);
            }
        }

        /** Fails the request, if there is one. The job itself may be retried. */
        void fail(Throwable problem) {
            if (current != null) {
                current.completeExceptionally(problem);
            }
        }

        /** Whether the job may be postponed. Returns true only on the first call. */
        boolean mayPutOff() {
            boolean first = !putOff;
            putOff = true;
            return first;
        }

        /** Counts a failure. Returns whether this job has failed several times while other jobs succeeded. */
        boolean failedAlone(long successes, int maxFailures) {
            if (failures == 0) {
                successesAtFirstFailure = successes;
            }
            failures++;
            return failures >= maxFailures && successes != successesAtFirstFailure;
        }

        private void count() {
            backlog.count = (slot == null ? 0 : 1) + deletions.size();
        }
    }

    /** Opens the schedule, so that workers can take jobs. */
    synchronized void open() {
        open = true;
        notifyAll();
    }

    /**
     * Closes the schedule, so that workers take no more jobs, and fails the waiting requests. Unless the schedule is
     * closed forever, the jobs wait.
     */
    void close(boolean forever) {
        List<CompletableFuture<Archived>> rejected = new ArrayList<>();
        synchronized (this) {
            open = false;
            for (Job job : jobs.values()) {
                if (job.request != null) {
                    rejected.add(job.request);
                    job.request = null;
                }
            }
            waiting.addAll(requested);
            requested.clear();
            if (forever) {
                ended = true;
                waiting.forEach(this::remove);
                waiting.clear();
            }
            notifyAll();
        }
        rejected.forEach(request -> request.completeExceptionally(rejection.get()));
    }

    /**
     * Records a scan of a slot, and schedules the changes for which there is space.
     *
     * @param nowMillis when the scan began, in milliseconds since 1970
     * @param nextMillis the latest time when the slot is scanned again
     * @param changed each change that cannot wait for the next scan
     * @param unchanged the other documents, to verify the slot if there is space; null when the slot needs no
     *     verification
     * @return false if there was no space for all changes or for the verification; the slot must then be scanned again
     *     when there is space
     */
    synchronized boolean scanned(
            int number, long nowMillis, long nextMillis, List<Change> changed, @Nullable List<Change> unchanged) {
        ArchiveSlot slot = slots[number];
        Backlog rest = new Backlog();
        Verification verification = unchanged != null && hasSpace() ? new Verification() : null;
        for (Change change : changed) {
            schedule(change, slot, verification, verification != null || waiting.size() < capacity, rest);
        }
        if (unchanged != null) {
            unchanged.forEach(document -> schedule(document, slot, verification, verification != null, rest));
        }
        slot.scanned(nowMillis, nextMillis, rest);
        if (verification != null) {
            slot.verification = verification;
            verifyIfDone(slot);
        }
        // The verification needs another scan, even if the slot is empty or all its documents already have jobs.
        return rest.count == 0 && (unchanged == null || verification != null);
    }

    private void schedule(
            Change change, ArchiveSlot slot, @Nullable Verification verification, boolean space, Backlog rest) {
        Job job = jobs.get(change.name());
        if (ended || job == null && !space) {
            slot.add(change, rest);
            return;
        }
        if (job == null) {
            job = new Job(change.name());
            jobs.put(job.name, job);
            enqueue(job, 0);
        }
        job.again = job.running;
        if (change.deletion() == null) {
            job.slot = slot;
        } else {
            job.deletions.add(change.deletion());
        }
        if (verification != null) {
            job.verification = verification;
            verification.left++;
        }
        slot.add(change, job.backlog);
        job.count();
    }

    private void enqueue(Job job, long delayNanos) {
        job.running = false;
        job.again = false;
        job.number = ++lastNumber;
        job.dueNanos = now() + delayNanos;
        (job.request == null ? waiting : requested).add(job);
        notifyAll();
    }

    private long now() {
        return nanoTime.getAsLong() - startNanos;
    }

    /**
     * Requests that a document be archived as soon as possible. A running job may have read an earlier state, so its
     * next run completes the request. All requests that the same run completes get the same future.
     */
    synchronized CompletableFuture<Archived> request(DocumentName name) {
        if (!open) {
            return CompletableFuture.failedFuture(rejection.get());
        }
        Job known = jobs.get(name);
        if (known != null && known.request != null) {
            return known.request;
        }
        if (requested.size() >= capacity) {
            return CompletableFuture.failedFuture(new ArchiveException(
                    Reason.NOT_FOUND, "too many requests to archive a document are waiting; try again later"));
        }
        Job job = jobs.computeIfAbsent(name, Job::new);
        CompletableFuture<Archived> request = new CompletableFuture<>();
        job.request = request;
        if (job.running) {
            job.again = true;
        } else {
            waiting.remove(job);
            enqueue(job, 0);
        }
        return request;
    }

    /**
     * Waits for a job, for which the caller must then call {@link #done(Job)}, {@link #retry}, or {@link #drop}.
     * Returns null if the schedule has ended.
     */
    @Nullable
    synchronized Job take() throws InterruptedException {
        while (!ended) {
            Job job = open ? requested.poll() : null;
            long delayNanos = 0;
            if (open && job == null && !waiting.isEmpty()) {
                delayNanos = Math.max(backOff.remainingNanos(), waiting.first().dueNanos - now());
                job = delayNanos > 0 ? null : waiting.pollFirst();
            }
            if (job != null) {
                job.running = true;
                job.current = job.request;
                job.request = null;
                notifyAll();
                return job;
            }
            if (delayNanos > 0) {
                waitNanos(delayNanos);
            } else {
                wait();
            }
        }
        return null;
    }

    private void waitNanos(long nanos) throws InterruptedException {
        // Waits at least a millisecond: less would be rounded to 0, which waits forever.
        wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
    }

    synchronized List<DeletionRecord> deletions(Job job) {
        return List.copyOf(job.deletions);
    }

    synchronized void done(Job job, DeletionRecord deletion) {
        job.deletions.remove(deletion);
        job.count();
    }

    /** Records that all of a job's work is done. */
    synchronized void done(Job job) {
        job.failures = 0;
        job.putOff = false;
        if (!runsAgain(job)) {
            jobs.remove(job.name);
            ArchiveSlot slot = job.slot;
            if (slot != null && job.verification != null) {
                job.verification.left--;
                verifyIfDone(slot);
            }
        }
    }

    /** Drops a failed job. The next scan finds the document again. */
    synchronized void drop(Job job) {
        if (!runsAgain(job)) {
            remove(job);
        }
    }

    private boolean runsAgain(Job job) {
        boolean again = job.again && !ended;
        if (again) {
            enqueue(job, 0);
        }
        notifyAll();
        return again;
    }

    /** Removes a job that is not done, and counts its changes in their slots. */
    private void remove(Job job) {
        jobs.remove(job.name);
        Backlog left = job.backlog;
        slots[DELETIONS].unscheduled.add(job.deletions.size(), left.oldestMillis, left.dueMillis);
        ArchiveSlot slot = job.slot;
        if (slot != null) {
            slot.unscheduled.add(1, left.oldestMillis, left.dueMillis);
            slot.verification = job.verification == null ? slot.verification : null;
        }
    }

    /**
     * Schedules a failed job after all waiting jobs, because it may fail again. If twice the capacity is in use, a job
     * with a delay is dropped.
     */
    synchronized void retry(Job job, long delayNanos) {
        if (ended || delayNanos > 0 && job.request == null && waiting.size() >= 2 * capacity) {
            drop(job);
        } else {
            enqueue(job, delayNanos);
        }
    }

    private void verifyIfDone(ArchiveSlot slot) {
        if (slot.unverified && slot.verification != null && slot.verification.left == 0) {
            slot.unverified = false;
            slot.verification = null;
            unverifiedSlots--;
        }
    }

    /** Marks all documents as unverified, because the archive may lack generations that their marks record. */
    synchronized void distrust() {
        for (int number = 0; number < DELETIONS; number++) {
            slots[number].unverified = true;
            slots[number].verification = null;
        }
        unverifiedSlots = DELETIONS;
    }

    /** Whether a scan of the slot must find all documents, to verify them. */
    synchronized boolean mustVerify(int slot) {
        return slots[slot].unverified && slots[slot].verification == null;
    }

    /** Whether the marks of all documents are reliable. */
    synchronized boolean verified() {
        return unverifiedSlots == 0;
    }

    /** Whether at least half of the capacity is free; a scan to fill less space would be too expensive. */
    synchronized boolean hasSpace() {
        return !ended && waiting.size() <= capacity / 2;
    }

    /** Waits until this time has passed, there is space if it is needed, or {@link #wake} is called. */
    synchronized void awaitSpace(long nanos, boolean needed) throws InterruptedException {
        await(nanos, () -> woken || needed && hasSpace());
        woken = false;
    }

    /** Ends the current or the next {@link #awaitSpace}. */
    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    /** Waits until no job is waiting or running. Returns false after this time, or if the schedule ends first. */
    synchronized boolean awaitIdle(long nanos) throws InterruptedException {
        await(nanos, () -> ended || jobs.isEmpty());
        return jobs.isEmpty();
    }

    private void await(long nanos, BooleanSupplier end) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !end.getAsBoolean(); left = deadline - System.nanoTime()) {
            waitNanos(left);
        }
    }

    /** Returns the backlog: the documents and deletions that scans have found and whose jobs are not done. */
    synchronized Backlog backlog() {
        Backlog sum = new Backlog();
        Stream.of(slots).forEach(slot -> sum.add(slot.unscheduled));
        jobs.values().forEach(job -> sum.add(job.backlog));
        return sum;
    }
}
