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
import io.caravan.server.archive.push.Worker.Pushes;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentService;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the archive of a server's documents up to date, in the background, by threads of its own: one that walks
 * through the documents, one that sees to whose the archive is, and those that archive. An archive that cannot be
 * reached costs lag and nothing else.
 *
 * <p><b>Threading.</b> Any thread may call any method; only {@link #finish} and {@link #close} wait.
 */
public final class Archiver implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Archiver.class);

    private static final int QUEUE_CAPACITY = 4096;
    private static final Duration LONGEST_CHECK_INTERVAL = Duration.ofMinutes(1);
    private static final Duration LONGEST_PUT_OFF = Duration.ofSeconds(5);
    private static final Duration CLOSE_GRACE = Duration.ofMillis(500);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(2);

    private final ArchiveConfig config;
    private final DocumentService documents;
    private final InstantSource clock;
    private final ClaimedPlace place;
    private final ArchiveCounts figures;
    private final Survey survey;
    private final BackOff backOff = newBackOff();
    private final JobQueue queue = new JobQueue(QUEUE_CAPACITY, backOff, System::nanoTime);
    private final Ownership ownership;
    private final Walker walker;
    private final @Nullable Pruner pruner;
    private final List<Thread> threads = new ArrayList<>();
    private volatile @Nullable Pushes pushes;

    private Archiver(DocumentService documents, ListStore store, ArchiveConfig config, InstantSource clock) {
        this.config = config;
        this.documents = documents;
        this.clock = clock;
        this.figures = new ArchiveCounts(clock);
        this.survey = new Survey(Walker.SLOTS, clock.millis());
        this.place = new ClaimedPlace(config, store, figures, clock);
        Duration quarter = config.after().dividedBy(4);
        this.ownership = new Ownership(
                () -> place.claim(() -> survey.distrust(DocumentService.STRIPES)),
                quarter.compareTo(LONGEST_CHECK_INTERVAL) < 0 ? quarter : LONGEST_CHECK_INTERVAL,
                newBackOff(),
                figures,
                this::owned);
        ArchiveConfig.Pruning pruning = config.pruning();
        this.pruner = pruning == null ? null : new Pruner(ownership::archive, pruning, clock, figures);
        Duration round = config.after().multipliedBy(4).dividedBy(5);
        this.walker = new Walker(documents, queue, survey, clock, round, this::verified);
    }

    private static BackOff newBackOff() {
        return new BackOff(System::nanoTime, () -> ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Starts to archive.
     *
     * @param store that of the documents
     * @throws ArchiveException when the archive is at hand, and must not be this store's
     */
    public static Archiver start(DocumentService documents, ListStore store, ArchiveConfig config) {
        Archiver archiver = new Archiver(documents, store, config, InstantSource.system());
        boolean started = false;
        try {
            if (config.atHand()) {
                archiver.ownership.claimNow();
            }
            archiver.startThreads();
            started = true;
        } finally {
            if (!started) {
                archiver.close();
            }
        }
        return archiver;
    }

    private void startThreads() {
        thread("owner", ownership);
        thread("walker", walker);
        if (pruner != null) {
            pruner.start();
        }
        FailureLog log = new FailureLog();
        Duration tenth = config.after().dividedBy(10);
        Duration later = tenth.compareTo(LONGEST_PUT_OFF) < 0 ? tenth : LONGEST_PUT_OFF;
        for (int i = 1; i <= config.concurrency(); i++) {
            thread("worker-" + i, new Worker(queue, backOff, survey, figures, ownership, () -> pushes, log, later));
        }
    }

    private void thread(String name, Runnable task) {
        Thread thread = new Thread(task, "caravan-archive-" + name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    /** What {@link Ownership} tells. */
    private void owned(@Nullable Archive archive) {
        pushes = archive == null ? null : Pushes.to(archive, documents, survey, clock, place::newIncarnation);
        if (ownership.state().ended()) {
            queue.end(notOwner());
        } else if (archive == null) {
            queue.pause(notOwner());
        } else {
            queue.open();
        }
    }

    private void verified() {
        Archive owned = ownership.archive();
        if (owned != null) {
            place.complete(owned);
        }
    }

    private CaravanException notOwner() {
        return switch (ownership.state()) {
            case OWNER, CLAIMING ->
                new ArchiveException(
                        Reason.NOT_FOUND, "the archive cannot be reached yet, and the server keeps trying: " + why());
            case STOPPED -> new ArchiveException(Reason.FENCED, "the server is stopping, and archives nothing more");
            case FENCED, REFUSED -> new ArchiveException(Reason.FENCED, "this server has stopped archiving: " + why());
        };
    }

    private String why() {
        ArchiveStatus.LastError last = figures.lastError();
        return last == null ? "it is just being taken over" : last.message();
    }

    /**
     * Archives a document now, if it has changed since it was archived: as it is when this is called, or later.
     *
     * @return fails with a {@link CaravanException} that says why it could not be; the document is then archived when
     *     it can
     */
    public CompletableFuture<Archived> archiveNow(DocumentName name) {
        if (ownership.state() != ArchiveState.OWNER) {
            return CompletableFuture.failedFuture(notOwner());
        }
        CompletableFuture<Archived> request = new CompletableFuture<>();
        if (!queue.request(name, job -> job.add(request))) {
            request.completeExceptionally(
                    ownership.state() == ArchiveState.OWNER
                            ? new ArchiveException(
                                    Reason.NOT_FOUND,
                                    "the archive takes no more requests to archive documents now; try again later")
                            : notOwner());
        }
        return request;
    }

    /** How far the archive has got. */
    public ArchiveStatus status() {
        long oldest = survey.oldestMillis();
        Archive owned = ownership.archive();
        return new ArchiveStatus(
                place.location(),
                ownership.state(),
                owned == null ? 0 : owned.root().epoch(),
                survey.backlog(),
                oldest == Long.MAX_VALUE ? 0 : Math.max(0, clock.millis() - oldest) / 1e3,
                figures.documents(),
                figures.tombstones(),
                figures.bytes(),
                figures.failures(),
                figures.lastSuccessMillis(),
                figures.lastError(),
                backOff.remainingNanos() / 1e9);
    }

    /** The archive, while it is this server's. */
    public @Nullable Archive archive() {
        return ownership.archive();
    }

    /**
     * The archive, to read from.
     *
     * @throws ObjectStoreException {@code UNAVAILABLE} when it is not this server's, or not yet
     */
    public Archive readable() {
        Archive owned = ownership.archive();
        if (owned == null) {
            throw new ObjectStoreException(
                    Kind.UNAVAILABLE,
                    "nothing can be read from the archive at " + place.location() + ": "
                            + notOwner().getMessage(),
                    null);
        }
        return owned;
    }

    /** Whether a server that stops shall {@link #finish} first. */
    public boolean finishesOnStop() {
        return config.onStop();
    }

    /**
     * Archives all that has changed, at once; returns false, and says so, when the time is not enough for it. An
     * archiver that is closed does nothing.
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

    /** Stops to archive; what takes longer than a moment is given up, and found again after the next start. */
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
        place.close();
    }

    private void join(Duration time) throws InterruptedException {
        long deadline = System.nanoTime() + time.toNanos();
        for (Thread thread : threads) {
            TimeUnit.NANOSECONDS.timedJoin(thread, deadline - System.nanoTime());
        }
    }

    /**
     * What an archive has of a document that it was asked to have.
     *
     * @param mark which generation it is, and of which values
     * @param uploaded false when it had that already, because nothing had changed
     */
    public record Archived(ArchiveMark mark, boolean uploaded) {}
}
