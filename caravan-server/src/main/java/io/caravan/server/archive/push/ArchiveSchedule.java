package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.document.DeletionRecord;
import io.caravan.server.document.DocumentService;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
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
import java.util.stream.IntStream;
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
 * <p>When the archive may lack generations that the documents' marks record, all documents of a slot get jobs at the same
 * time. The slot is verified when these jobs have succeeded.
 *
 * <p><b>Threading.</b> Thread-safe. The monitor guards everything; no thread blocks while holding it.
 */
final class ArchiveSchedule {
    /** The number of the slot that contains the deletions. */
    static final int DELETIONS = DocumentService.STRIPES;

    static final int SLOTS = DELETIONS + 1;

    private static final int NO_SLOT = -1;

    private final int capacity;
    private final BackOff backOff;
    private final LongSupplier nanoTime;
    private final long startNanos;
    private final Supplier<? extends Throwable> rejection;

    private final Slot[] slots;
    /** The slots to scan again when there is space, in this order. */
    private final Set<Integer> lackingSpace = new LinkedHashSet<>();
    /** The slots whose documents must all get jobs. */
    private final BitSet unverified = new BitSet();
    /** The number of jobs that verify documents. */
    private int verifying;

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
        this.slots = Stream.generate(() -> new Slot(startMillis)).limit(SLOTS).toArray(Slot[]::new);
    }

    /**
     * The last scan of a stripe of the documents, or of the deletions. It bounds the age of each change without storing any
     * state per document. All times are in milliseconds since 1970.
     */
    static final class Slot {
        /** The changes that have no jobs, because there was no space or because their jobs have failed. */
        Backlog unscheduled = new Backlog();

        private final long startMillis;
        private boolean scanned;
        private long scannedMillis;
        private long nextMillis;

        /** @param startMillis when the server started */
        Slot(long startMillis) {
            this.startMillis = startMillis;
        }

        /**
         * Adds a change that a scan has just found. The change was made after the document was last archived. Unless the
         * previous scan left the change for later, it was also made after that scan. A document that was never archived and
         * that the first scan finds counts as changed at the start.
         */
        void add(Change change, Backlog to) {
            long since = scanned || change.lastMillis() != 0 ? change.lastMillis() : startMillis;
            long due = since + change.afterMillis();
            if (scanned && !change.mayWait(scannedMillis, nextMillis)) {
                boolean left = unscheduled.count > 0;
                long dueAfterScan = scannedMillis + change.afterMillis();
                since = Math.max(since, left ? unscheduled.oldestMillis : scannedMillis);
                due = Math.max(due, left ? Math.min(unscheduled.dueMillis, dueAfterScan) : dueAfterScan);
            }
            to.add(1, since, due);
        }

        /** Records a scan of the slot, with the changes for which there was no space. */
        void scanned(long nowMillis, long next, Backlog rest) {
            scanned = true;
            scannedMillis = nowMillis;
            nextMillis = next;
            unscheduled = rest;
        }
    }

    /**
     * A document or a deletion that a scan has found.
     *
     * @param deletion null for a document
     * @param lastMillis the last time at which no archiving is known to have been necessary; 0 if there is none
     * @param afterMillis maximum age of a change
     */
    record Change(DocumentName name, @Nullable DeletionRecord deletion, long lastMillis, long afterMillis) {
        /**
         * Whether a scan may leave this change to the next scan, because at least a fifth of its maximum age then
         * remains for archiving it. A change with a time in the future, set by another clock, does not wait.
         *
         * @param nowMillis the time of the scan
         * @param nextMillis the latest time of the next scan
         */
        boolean mayWait(long nowMillis, long nextMillis) {
            return lastMillis != 0 && lastMillis <= nowMillis && nextMillis - lastMillis < afterMillis / 5 * 4;
        }
    }

    /** A number of changes, and bounds on their ages. */
    static final class Backlog {
        /** The number of documents and deletions. */
        int count;
        /** The earliest time at which any of the changes can have begun to wait; {@link Long#MAX_VALUE} if none. */
        long oldestMillis = Long.MAX_VALUE;
        /** The earliest time at which any of the changes can be due; {@link Long#MAX_VALUE} if none. */
        long dueMillis = Long.MAX_VALUE;

        void add(int changes, long oldest, long due) {
            if (changes > 0) {
                count += changes;
                oldestMillis = Math.min(oldestMillis, oldest);
                dueMillis = Math.min(dueMillis, due);
            }
        }

        void add(Backlog other) {
            add(other.count, other.oldestMillis, other.dueMillis);
        }
    }

    /** The archiving work for one document name. */
    static final class Job {
        final DocumentName name;
        /** The request that the current run completes; the job's worker owns this field and the next three. */
        private @Nullable CompletableFuture<Archived> current;

        private int failures;
        private long successesAtFirstFailure;
        private boolean putOff;

        /** The slot in which a scan has found the document, or -1. The monitor guards this and all other fields. */
        private int slot = NO_SLOT;
        /** Whether the slot is verified only after this job. */
        private boolean verifies;
        /** Deletions that the archive does not have, oldest first. */
        private final Set<DeletionRecord> deletions = new LinkedHashSet<>();
        /** The backlog of this job: the document, if it is in a slot, and the deletions. */
        private final Backlog backlog = new Backlog();

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
            backlog.count = (slot == NO_SLOT ? 0 : 1) + deletions.size();
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
     */
    synchronized void scanned(
            int number, long nowMillis, long nextMillis, List<Change> changed, @Nullable List<Change> unchanged) {
        Backlog rest = new Backlog();
        boolean verifies = unchanged != null && hasSpace();
        changed.forEach(change -> schedule(change, number, verifies, verifies || waiting.size() < capacity, rest));
        if (unchanged != null) {
            unchanged.forEach(document -> schedule(document, number, verifies, verifies, rest));
        }
        slots[number].scanned(nowMillis, nextMillis, rest);
        if (verifies) {
            unverified.clear(number);
        }
        // The verification needs another scan, even if the slot is empty or all its documents already have jobs.
        // So does a slot that became unverified during the scan.
        if (rest.count == 0 && (verifies || unchanged == null && !unverified.get(number))) {
            lackingSpace.remove(number);
            notifyAll();
        } else {
            lackingSpace.add(number);
        }
    }

    /**
     * Records that the scan of a slot has failed. The slot is not scanned again before it is due, because a scan that
     * always fails would otherwise be repeated without a pause.
     */
    synchronized void scanFailed(int number) {
        lackingSpace.remove(number);
        notifyAll();
    }

    private void schedule(Change change, int slot, boolean verifies, boolean space, Backlog rest) {
        Job job = jobs.get(change.name());
        if (ended || job == null && !space) {
            slots[slot].add(change, rest);
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
        if (verifies && !job.verifies) {
            job.verifies = true;
            verifying++;
        }
        slots[slot].add(change, job.backlog);
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
            verifying -= job.verifies ? 1 : 0;
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
        if (job.slot != NO_SLOT) {
            slots[job.slot].unscheduled.add(1, left.oldestMillis, left.dueMillis);
        }
        if (job.verifies) {
            verifying--;
            unverified.set(job.slot);
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

    /** Marks all documents as unverified, because the archive may lack generations that their marks record. */
    synchronized void distrust() {
        jobs.values().forEach(job -> job.verifies = false);
        verifying = 0;
        unverified.set(0, DELETIONS);
        IntStream.range(0, DELETIONS).forEach(lackingSpace::add);
        notifyAll();
    }

    /** Whether a scan of the slot must find all documents, to verify them. */
    synchronized boolean mustVerify(int slot) {
        return unverified.get(slot);
    }

    /** Whether the marks of all documents are reliable. */
    synchronized boolean verified() {
        return unverified.isEmpty() && verifying == 0;
    }

    /** Whether at least half of the capacity is free; a scan to fill less space would be too expensive. */
    private boolean hasSpace() {
        return !ended && waiting.size() <= capacity / 2;
    }

    /**
     * Waits for a slot that must be scanned again and for which there is space now. Returns null after this time, or when
     * {@link #wake} is called.
     */
    @Nullable
    synchronized Integer awaitRescan(long nanos) throws InterruptedException {
        await(nanos, () -> woken || !lackingSpace.isEmpty() && hasSpace());
        woken = false;
        if (lackingSpace.isEmpty() || !hasSpace()) {
            return null;
        }
        Integer next = lackingSpace.iterator().next();
        // Goes to the end of the order: if the slot still lacks space after the scan, the other slots are next.
        lackingSpace.remove(next);
        lackingSpace.add(next);
        return next;
    }

    /** Ends the current or the next {@link #awaitRescan}. */
    synchronized void wake() {
        woken = true;
        notifyAll();
    }

    /**
     * Waits until no job is waiting or running, and no slot must be scanned again. Returns false after this time, or if
     * the schedule ends first.
     */
    synchronized boolean awaitIdle(long nanos) throws InterruptedException {
        await(nanos, () -> ended || isIdle());
        return isIdle();
    }

    private boolean isIdle() {
        return jobs.isEmpty() && lackingSpace.isEmpty();
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
