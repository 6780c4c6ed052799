package io.caravan.server.archive.push;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.push.ArchiveSchedule.Job;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DeletionRecord;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentService;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the archive of a server's documents up to date in the background, with its own threads. One scans the
 * documents, one maintains the ownership of the archive, and the workers archive documents. If the archive is
 * unreachable, the only effect is lag.
 *
 * <p><b>Threading.</b> Any thread may call any method; only {@link #finish} and {@link #close} wait.
 */
public final class Archiver implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Archiver.class);

    private static final int MAX_WAITING_JOBS = 4096;
    private static final Duration LONGEST_PUT_OFF = Duration.ofSeconds(5);
    private static final Duration LONGEST_BACK_OFF = Duration.ofSeconds(30);
    /**
     * The number of failed attempts to archive a document, while others succeed, after which it is postponed or left
     * for the next round.
     */
    private static final int MAX_FAILURES = 4;

    private static final long DROP = -1;
    private static final long NO_DELAY = 0;

    private static final Duration CLOSE_GRACE = Duration.ofMillis(500);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    private final ArchiveConfig config;
    private final DocumentService documents;
    private final InstantSource clock = InstantSource.system();
    private final LongSupplier incarnations = new SecureRandom()::nextLong;
    private final ArchiveCounters outcomes = new ArchiveCounters(clock);
    private final BackOff backOff;
    private final ArchiveSchedule schedule;
    private final long putOffNanos;
    private final Ownership ownership;
    private final DirtyScanner scanner;
    private final @Nullable Pruner pruner;
    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch stopped = new CountDownLatch(1);

    private Archiver(DocumentService documents, ListStore store, ArchiveConfig config, Duration longestDelay) {
        this.config = config;
        this.backOff = newBackOff(longestDelay);
        this.schedule =
                new ArchiveSchedule(MAX_WAITING_JOBS, backOff, System::nanoTime, clock.millis(), this::notOwner);
        this.putOffNanos = Collections.min(List.of(config.after().dividedBy(10), LONGEST_PUT_OFF, longestDelay))
                .toNanos();
        this.documents = documents;
        this.ownership = new Ownership(
                config, store, documents.spaces().server(), clock, newBackOff(longestDelay), outcomes, schedule);
        ArchiveConfig.Pruning pruning = config.pruning();
        this.pruner = pruning == null
                ? null
                : new Pruner(
                        ownership::archive,
                        Pruner.policies(documents.spaces(), pruning.policy()),
                        pruning.every(),
                        clock,
                        System::nanoTime,
                        outcomes);
        this.scanner = new DirtyScanner(documents, schedule, clock, config.after());
    }

    private static BackOff newBackOff(Duration longest) {
        return new BackOff(System::nanoTime, () -> ThreadLocalRandom.current().nextDouble(), longest);
    }

    /**
     * Starts to archive a server's documents.
     *
     * @param store the store of the documents
     * @throws ArchiveException when the object store responds at once, and the archive is damaged or belongs to another
     * store
     */
    public static Archiver start(DocumentService documents, ListStore store, ArchiveConfig config) {
        return start(documents, store, config, LONGEST_BACK_OFF);
    }

    static Archiver start(DocumentService documents, ListStore store, ArchiveConfig config, Duration longestDelay) {
        Archiver archiver = new Archiver(documents, store, config, longestDelay);
        try {
            if (config.atHand()) {
                archiver.ownership.claimNow();
            }
            archiver.startThreads();
            return archiver;
        } catch (RuntimeException | Error problem) {
            archiver.close();
            throw problem;
        }
    }

    private void startThreads() {
        repeat("owner", ownership::step, () -> ownership.state().ended());
        repeat("scanner", scanner::step, () -> stopped.getCount() == 0);
        if (pruner != null) {
            Thread thread = repeat("pruner", () -> pruner.step(stopped), () -> stopped.getCount() == 0);
            thread.setPriority(Thread.MIN_PRIORITY);
        }
        for (int i = 1; i <= config.concurrency(); i++) {
            repeat("worker-" + i, this::work, () -> ownership.state().ended());
        }
    }

    interface Step {
        void run() throws InterruptedException;
    }

    private Thread repeat(String name, Step step, BooleanSupplier ended) {
        return thread(name, () -> repeat(step, ended));
    }

    static void repeat(Step step, BooleanSupplier ended) {
        while (!ended.getAsBoolean()) {
            try {
                step.run();
            } catch (InterruptedException perhapsNotMeant) {
                // A library may leave the interrupt flag set, so the thread ends only with the archiver.
            } catch (RuntimeException | Error problem) {
                // An uncaught exception would end the only thread for this work. After the end, parts of the server may
                // be
                // closed.
                if (!ended.getAsBoolean()) {
                    LOG.error("archiving has failed because of an error in the server, and continues", problem);
                }
            }
        }
    }

    private Thread thread(String name, Runnable task) {
        Thread thread = new Thread(task, "caravan-archive-" + name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
        return thread;
    }

    /** Runs one job. */
    private void work() throws InterruptedException {
        Job job = schedule.take();
        if (job != null) {
            work(job);
        }
    }

    private void work(Job job) {
        long start = System.nanoTime();
        long delayNanos = NO_DELAY;
        boolean done = false;
        Archive owned = ownership.archive();
        try {
            if (owned == null) {
                // The archive has just been lost: the job's request fails now, and the job waits for the archive.
                job.fail(notOwner());
            } else {
                owned.ensureOwner();
                upload(job, new DocumentUploader(documents, owned, clock, incarnations));
                done = true;
                backOff.succeeded(start);
                outcomes.succeeded(job.name);
            }
        } catch (RuntimeException | Error problem) {
            if (owned != ownership.archive() && Failure.of(problem).reach() == Failure.Reach.OWNER) {
                // The archive was lost during the upload. The owner that fences the upload may be this server, which
                // has claimed the archive again.
                job.fail(notOwner());
            } else {
                delayNanos = failed(job, problem, start);
                // The failure is counted before the requesters receive it.
                job.fail(problem);
            }
        } finally {
            if (done) {
                schedule.done(job);
            } else if (delayNanos == DROP) {
                schedule.drop(job);
            } else {
                schedule.retry(job, delayNanos);
            }
        }
    }

    private void upload(Job job, DocumentUploader to) {
        schedule.deletions(job).forEach(deletion -> upload(job, deletion, to));
        // A client may request a job because it does not trust the mark.
        Archived archived = to.upload(job.name, schedule.verified() && !job.isRequested());
        if (archived == null) {
            // The document may have been deleted since the last scan of the deletions.
            documents.pendingDeletions(job.name).forEach(deletion -> upload(job, deletion, to));
            job.fail(new DocumentException(DocumentException.Reason.NOT_FOUND, job.name, "does not exist"));
            return;
        }
        if (archived.uploaded()) {
            outcomes.documentArchived();
        }
        job.complete(archived);
    }

    private void upload(Job job, DeletionRecord deletion, DocumentUploader to) {
        if (to.upload(deletion)) {
            outcomes.deletionArchived();
        }
        schedule.done(job, deletion);
    }

    /** Handles a failure. Returns the nanoseconds until the retry, or {@link #DROP} to wait for the next round. */
    private long failed(Job job, Throwable problem, long startNanos) {
        if (ownership.state() == ArchiveState.STOPPED) {
            return DROP;
        }
        Failure failure = Failure.of(problem);
        if (failure.reach() == Failure.Reach.OWNER) {
            ownership.lost(failure, ArchiveState.FENCED);
            return DROP;
        }
        ownership.suspect();
        if (failure.reach() == Failure.Reach.DOCUMENT) {
            outcomes.failed(job.name, failure, problem);
        } else {
            outcomes.interrupted(failure);
            backOff.failed(startNanos);
            if (!job.failedAlone(outcomes.successes(), MAX_FAILURES)) {
                return NO_DELAY;
            }
        }
        // The cause may be temporary, and the next round is far away.
        return job.mayPutOff() ? putOffNanos : DROP;
    }

    private CaravanException notOwner() {
        return switch (ownership.state()) {
            case OWNER, CLAIMING ->
                new ArchiveException(
                        Reason.NOT_FOUND, "the archive cannot be reached yet, and the server retries: " + why());
            case STOPPED -> new ArchiveException(Reason.FENCED, "the server is stopping and has stopped archiving");
            case FENCED, REJECTED -> new ArchiveException(Reason.FENCED, "this server has stopped archiving: " + why());
        };
    }

    private String why() {
        ArchiveStatus.LastError last = outcomes.lastError();
        return last == null ? "the server is taking ownership of it" : last.message();
    }

    /**
     * Archives a document now, if it has changed since it was archived. The archived state is the one at the time of
     * this call, or a later one.
     *
     * @return a future that fails with a {@link CaravanException} that gives the reason; the document is then archived
     *     when possible
     */
    public CompletableFuture<Archived> archiveNow(DocumentName name) {
        return schedule.request(name);
    }

    public ArchiveStatus status() {
        return outcomes.status(config.location(), ownership, schedule.backlog(), backOff);
    }

    /**
     * Returns the archive for reading.
     *
     * @throws ObjectStoreException {@code UNAVAILABLE} when this server does not own it
     */
    public Archive readable() {
        Archive owned = ownership.archive();
        if (owned == null) {
            throw new ObjectStoreException(
                    Kind.UNAVAILABLE,
                    "nothing can be read from the archive at " + config.location() + ": "
                            + notOwner().getMessage(),
                    null);
        }
        return owned;
    }

    /** Whether a server must call {@link #finish} before it stops. */
    public boolean finishesOnStop() {
        return config.onStop();
    }

    /**
     * Archives all pending changes now. Returns false, and logs the reason, if that is not possible within the timeout.
     * Does nothing once the archiver is closed.
     */
    public boolean finish(Duration timeout) {
        if (ownership.state() == ArchiveState.STOPPED) {
            return false;
        }
        String obstacle = archiveAll(timeout);
        if (obstacle == null) {
            LOG.info("everything is archived");
        } else {
            LOG.warn(
                    "the archive lacks at least {} changes, which are archived after the next start: {}",
                    schedule.backlog().count,
                    obstacle);
        }
        return obstacle == null;
    }

    /** Returns the reason why changes are not archived, or null when all are. */
    private @Nullable String archiveAll(Duration timeout) {
        try {
            if (ownership.state() == ArchiveState.OWNER && scanner.archiveAll(timeout.toNanos())) {
                return null;
            }
            return ownership.state() == ArchiveState.OWNER ? "the timeout was too short" : why();
        } catch (RuntimeException | Error problem) {
            LOG.error("cannot scan all documents before the server stops", problem);
            return "the scan of some documents has failed";
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
            return "the wait was interrupted";
        }
    }

    /**
     * Stops archiving. Abandons work that is not done after a short time; the first scan after the next start finds the
     * work again.
     */
    @Override
    public void close() {
        Archive last = ownership.stop();
        Archive verified = schedule.verified() ? last : null;
        stopped.countDown();
        schedule.wake();
        try {
            join(CLOSE_GRACE);
            threads.forEach(Thread::interrupt);
            join(CLOSE_TIMEOUT);
            if (verified != null) {
                // On a separate thread, because the store may no longer complete the write.
                thread("stop", () -> ownership.trustMarks(verified));
                join(CLOSE_TIMEOUT);
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
        ownership.close();
    }

    private void join(Duration time) throws InterruptedException {
        long deadline = System.nanoTime() + time.toNanos();
        for (Thread thread : threads) {
            TimeUnit.NANOSECONDS.timedJoin(thread, deadline - System.nanoTime());
        }
    }

    /**
     * The result of archiving a document.
     *
     * @param mark the generation and its sequences
     * @param uploaded false when the archive already had this generation, because the document had not changed
     */
    public record Archived(ArchiveMark mark, boolean uploaded) {}
}
