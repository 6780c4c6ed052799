package io.caravan.server.archive.push;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.archive.push.JobQueue.Job;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.Deletion;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentService;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the archive of a server's documents up to date in the background, with its own threads: one scans the
 * documents, one maintains the ownership of the archive, and the workers archive. An archive that cannot be reached
 * only causes lag.
 *
 * <p><b>Threading.</b> Any thread may call any method; only {@link #finish} and {@link #close} wait.
 */
public final class Archiver implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Archiver.class);

    private static final int QUEUE_CAPACITY = 4096;
    private static final Duration LONGEST_PUT_OFF = Duration.ofSeconds(5);
    /** The number of failures, while others succeed, after which a document is put off or left for the next round. */
    private static final int PATIENCE = 4;

    private static final long DONE = -1;
    private static final long AGAIN = 0;

    private static final Duration CLOSE_GRACE = Duration.ofMillis(500);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(2);

    private final ArchiveConfig config;
    private final DocumentService documents;
    private final InstantSource clock = InstantSource.system();
    private final LongSupplier incarnations = new SecureRandom()::nextLong;
    private final Outcomes outcomes = new Outcomes(clock);
    private final BacklogTracker survey = new BacklogTracker(DirtyScanner.SLOTS, clock.millis());
    private final BackOff backOff = newBackOff();
    private final JobQueue queue = new JobQueue(QUEUE_CAPACITY, backOff, System::nanoTime, this::notOwner);
    private final long putOffNanos;
    private final Ownership ownership;
    private final DirtyScanner walker;
    private final @Nullable Pruner pruner;
    private final List<Thread> threads = new ArrayList<>();
    private volatile @Nullable DocumentUploader push;

    private Archiver(DocumentService documents, ListStore store, ArchiveConfig config, Duration longestPutOff) {
        this.config = config;
        this.putOffNanos = Collections.min(List.of(config.after().dividedBy(10), longestPutOff))
                .toNanos();
        this.documents = documents;
        this.ownership = new Ownership(
                config,
                store,
                clock,
                newBackOff(),
                outcomes,
                () -> survey.distrust(DocumentService.STRIPES),
                this::owned);
        ArchiveConfig.Pruning pruning = config.pruning();
        this.pruner = pruning == null
                ? null
                : new Pruner(
                        ownership::archive,
                        new SpacePolicies(documents.spaces(), pruning.policy()),
                        pruning.every(),
                        clock,
                        outcomes);
        ArchiveDeadlines intervals = new ArchiveDeadlines(documents.spaces(), config.after());
        this.walker = new DirtyScanner(documents, queue, survey, clock, intervals, ownership::verified);
    }

    private static BackOff newBackOff() {
        return new BackOff(System::nanoTime, () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Starts to archive.
     *
     * @param store the store of the documents
     * @throws ArchiveException when the archive is at hand and is damaged or belongs to another store
     */
    public static Archiver start(DocumentService documents, ListStore store, ArchiveConfig config) {
        return start(documents, store, config, LONGEST_PUT_OFF);
    }

    /** Starts to archive, with a limit on the time after which a failed document is retried. */
    static Archiver start(DocumentService documents, ListStore store, ArchiveConfig config, Duration longestPutOff) {
        Archiver archiver = new Archiver(documents, store, config, longestPutOff);
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
        thread("owner", ownership);
        thread("walker", walker);
        if (pruner != null) {
            pruner.start();
        }
        for (int i = 1; i <= config.concurrency(); i++) {
            thread("worker-" + i, this::work);
        }
    }

    private void thread(String name, Runnable task) {
        Thread thread = new Thread(task, "caravan-archive-" + name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    /** Called with the archive when this server becomes its owner, and with null when the ownership ends. */
    private void owned(@Nullable Archive archive) {
        push = archive == null ? null : new DocumentUploader(documents, archive, survey, clock, incarnations);
        if (ownership.state().ended()) {
            queue.close(true);
        } else if (archive == null) {
            queue.close(false);
        } else {
            queue.open();
        }
    }

    /** Runs a worker: one job after the other until the queue ends. */
    private void work() {
        while (true) {
            try {
                Job job = queue.take();
                if (job == null) {
                    return;
                }
                work(job);
            } catch (InterruptedException interrupted) {
                // A library may leave the interrupt flag set, so the thread ends only with the archiver.
                if (ownership.state().ended()) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }

    private void work(Job job) {
        long start = System.nanoTime();
        long againNanos = AGAIN;
        try {
            DocumentUploader to = push;
            if (to == null) {
                // The archive has just been lost: the job's requests fail now, and the job waits for the archive.
                job.fail(notOwner());
            } else {
                push(job, to);
                againNanos = DONE;
                backOff.succeeded(start);
                outcomes.succeeded(job.name);
            }
        } catch (RuntimeException | Error problem) {
            againNanos = failed(job, problem, start);
            // The failure is counted before the requesters receive it.
            job.fail(problem);
        } finally {
            if (againNanos == DONE) {
                queue.done(job);
            } else {
                queue.putBack(job, againNanos);
            }
        }
    }

    private void push(Job job, DocumentUploader to) {
        to.ensureOwner();
        Iterator<Map.Entry<Deletion, BacklogTracker.Place>> deletions =
                job.deletions.entrySet().iterator();
        while (deletions.hasNext()) {
            Map.Entry<Deletion, BacklogTracker.Place> next = deletions.next();
            if (to.push(next.getKey())) {
                outcomes.deletionArchived();
            }
            survey.done(next.getValue());
            deletions.remove();
        }
        Archived archived = to.push(job.name);
        if (archived != null && archived.uploaded()) {
            outcomes.documentArchived();
        }
        if (job.place != null) {
            survey.done(job.place);
        }
        if (archived != null) {
            job.answer(archived);
        } else {
            job.fail(new DocumentException(DocumentException.Reason.NOT_FOUND, job.name, "does not exist"));
        }
    }

    /** Returns the time until the retry, in nanoseconds, or {@link #DONE} when the job is left for the next round. */
    private long failed(Job job, Throwable problem, long startNanos) {
        if (ownership.state() == ArchiveState.STOPPED) {
            return DONE;
        }
        Failure failure = Failure.of(problem);
        if (failure.reach() == Failure.Reach.OWNER) {
            ownership.lost(failure, ArchiveState.FENCED);
            return DONE;
        }
        ownership.suspect();
        if (failure.reach() == Failure.Reach.DOCUMENT) {
            outcomes.failed(job.name, failure, problem);
        } else {
            outcomes.interrupted(failure);
            backOff.failed(startNanos);
            if (!job.failedAlone(outcomes.successes(), PATIENCE)) {
                return AGAIN;
            }
        }
        // The cause may be temporary, and the next round is far away.
        return job.mayPutOff() ? putOffNanos : DONE;
    }

    private CaravanException notOwner() {
        return switch (ownership.state()) {
            case OWNER, CLAIMING ->
                new ArchiveException(
                        Reason.NOT_FOUND, "the archive cannot be reached yet, and the server keeps trying: " + why());
            case STOPPED -> new ArchiveException(Reason.FENCED, "the server is stopping, and archives nothing more");
            case FENCED, REJECTED -> new ArchiveException(Reason.FENCED, "this server has stopped archiving: " + why());
        };
    }

    private String why() {
        ArchiveStatus.LastError last = outcomes.lastError();
        return last == null ? "it is just being taken over" : last.message();
    }

    /**
     * Archives a document now, if it has changed since it was archived. The archived state is that of this call, or a
     * later one.
     *
     * @return fails with a {@link CaravanException} that gives the reason; the document is then archived when possible
     */
    public CompletableFuture<Archived> archiveNow(DocumentName name) {
        return queue.request(name);
    }

    public ArchiveStatus status() {
        return outcomes.status(ownership, survey, backOff);
    }

    /** The archive while this server owns it, otherwise null. */
    public @Nullable Archive archive() {
        return ownership.archive();
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
                    "nothing can be read from the archive at " + ownership.location() + ": "
                            + notOwner().getMessage(),
                    null);
        }
        return owned;
    }

    /** Whether a server must {@link #finish} before it stops. */
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
        boolean done = ownership.state() == ArchiveState.OWNER && handedOut(timeout);
        if (done) {
            LOG.info("everything is archived");
        } else {
            LOG.warn(
                    "the archive lacks {} changes, which are archived after the next start: {}",
                    survey.backlog(),
                    ownership.state() == ArchiveState.OWNER ? "the time was not enough" : why());
        }
        return done;
    }

    private boolean handedOut(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        try {
            walker.hurry().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return queue.awaitIdle(deadline - System.nanoTime()) && survey.backlog() == 0;
        } catch (TimeoutException late) {
            return false;
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException never) {
            throw new IllegalStateException(never);
        }
    }

    /** Stops archiving. Work that takes longer than a moment is abandoned; the next start finds it again. */
    @Override
    public void close() {
        ownership.stop();
        walker.stop();
        if (pruner != null) {
            pruner.close();
        }
        try {
            join(CLOSE_GRACE);
            threads.forEach(Thread::interrupt);
            join(CLOSE_PATIENCE);
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
