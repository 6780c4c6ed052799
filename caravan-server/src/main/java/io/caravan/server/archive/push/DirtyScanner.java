package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.BacklogTracker.Change;
import io.caravan.server.archive.push.BacklogTracker.Place;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.Deletion;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ScanPage.Found;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scans all documents in rounds, one stripe at a time at even intervals. It hands out the changes that the archive does
 * not have, unless a change can wait for the next round without getting too old. Documents that the queue has no space
 * for are found again when it has space. Scans therefore continue, and the backlog stays current, while nothing can be
 * archived. The walker does not pause in the first or a late round.
 *
 * <p>One thread runs it; other threads may call {@link #hurry} and {@link #stop}.
 */
final class DirtyScanner implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(DirtyScanner.class);
    private static final int DELETIONS = DocumentService.STRIPES;
    /**
     * The number of slots between two scans of the deletions: a document that changed before it was deleted has already
     * waited for its own slot. {@link #DELETIONS} is a multiple.
     */
    private static final int DELETIONS_EVERY = DocumentService.STRIPES / 8;

    /** The maximum delay until a new duration of rounds takes effect. */
    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The number of slots of the survey: the stripes of the documents, and the deletions. */
    static final int SLOTS = DocumentService.STRIPES + 1;

    private final DocumentService documents;
    private final JobQueue queue;
    private final BacklogTracker survey;
    private final InstantSource clock;
    private final ArchiveDeadlines intervals;
    private final Runnable verified;
    private boolean distrusting;

    private long roundNanos;
    private long roundStartNanos;
    private int slot;
    private int fedSlot;
    /** The rest of an unverified slot that the queue had no space for, or null. */
    private @Nullable Feed feed;

    private volatile @Nullable CompletableFuture<Void> hurry;
    private volatile boolean stopped;
    private @Nullable CompletableFuture<Void> hurrying;

    /**
     * Creates a walker that has not started.
     *
     * @param intervals the maximum ages of changes
     * @param verified runs when all unverified marks have been confirmed or corrected
     */
    DirtyScanner(
            DocumentService documents,
            JobQueue queue,
            BacklogTracker survey,
            InstantSource clock,
            ArchiveDeadlines intervals,
            Runnable verified) {
        this.documents = documents;
        this.queue = queue;
        this.survey = survey;
        this.clock = clock;
        this.intervals = intervals;
        this.verified = verified;
        this.roundNanos = intervals.round().toNanos();
        startRound();
    }

    /** Begins a round now in which all slots are already due. */
    private void startRound() {
        roundStartNanos = System.nanoTime() - roundNanos;
        slot = 0;
    }

    /** Scans all documents now, without pauses. The future completes when all changes found are handed out. */
    CompletableFuture<Void> hurry() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        hurry = done;
        queue.wake();
        return done;
    }

    void stop() {
        stopped = true;
        queue.wake();
    }

    /** Scans until the walker is stopped. */
    @Override
    public void run() {
        while (!stopped && !Thread.currentThread().isInterrupted()) {
            try {
                step();
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException | Error problem) {
                // An uncaught exception would end the only walker.
                LOG.error("documents of a stripe wait for the next round to be archived", problem);
            }
        }
    }

    private void step() throws InterruptedException {
        CompletableFuture<Void> wanted = hurry;
        if (wanted != null) {
            hurry = null;
            hurrying = wanted;
            startRound();
        }
        tellVerified();
        followIntervals();
        long waitNanos = roundStartNanos + slot * (roundNanos / SLOTS) - System.nanoTime();
        Feed begun = feed;
        int unfed = begun == null ? survey.nextUnfed(fedSlot) : begun.place().slot();
        if (waitNanos <= 0) {
            look(nextSlot());
        } else if (unfed >= 0 && queue.roomy()) {
            fedSlot = unfed;
            if (begun == null) {
                survey.fed(unfed);
                look(unfed);
            } else {
                goOn(begun);
            }
        } else {
            if (hurrying != null && unfed < 0) {
                hurrying.complete(null);
                hurrying = null;
            }
            queue.awaitRoom(Math.min(waitNanos, LONGEST_WAIT_NANOS), unfed >= 0);
        }
    }

    private void tellVerified() {
        boolean distrusted = distrusting;
        distrusting = !survey.verified();
        if (distrusted && !distrusting) {
            verified.run();
        } else if (!distrusted && distrusting) {
            startRound();
        }
    }

    /**
     * Starts a new round if the duration of rounds has changed: if it is longer, changes left to the next round would
     * wait too long.
     */
    private void followIntervals() {
        long nanos = intervals.round().toNanos();
        if (nanos != roundNanos) {
            roundNanos = nanos;
            startRound();
        }
    }

    private int nextSlot() {
        int due = slot;
        slot = (slot + 1) % SLOTS;
        if (slot == 0) {
            long late = System.nanoTime() - roundNanos;
            roundStartNanos += roundNanos;
            if (late - roundStartNanos > 0) {
                roundStartNanos = late;
            }
        }
        return due;
    }

    private void look(int at) {
        if (at != DELETIONS) {
            lookAtDocuments(at);
        }
        if (at % DELETIONS_EVERY == 0) {
            lookAtDeletions();
        }
    }

    /**
     * The documents of an unverified slot that have not been handed out since it was counted. A scan does not find a
     * changed document again once it is archived, but it finds these documents every time, so repeated scans would
     * never end.
     *
     * @param changed the documents that have changed, which are handed out first
     * @param others the documents to compare, which may use half of the queue
     */
    private record Feed(Place place, Queue<DocumentName> changed, Queue<DocumentName> others) {}

    private void lookAtDocuments(int stripe) {
        long now = clock.millis();
        long next = nextMillis(now);
        Feed begun = feed;
        boolean all = survey.unverified(stripe);
        List<Found> found = documents.stripe(stripe);
        List<Found> changed = found.stream()
                .filter(document -> !document.info().archived())
                .filter(document -> all || hurrying != null || !change(document).mayWait(now, next))
                .toList();
        if (begun != null && begun.place().slot() == stripe) {
            // Documents that changed since the slot was counted do not wait for the rest of the slot.
            for (Found document : changed) {
                if (!queue.offer(document.name(), job -> {})) {
                    break;
                }
            }
            goOn(begun);
            return;
        }
        Stream<Found> counted = all ? found.stream() : changed.stream();
        Place place =
                survey.visited(stripe, now, next, all, counted.map(this::change).toList());
        Feed looked = new Feed(place, new ArrayDeque<>(), new ArrayDeque<>());
        changed.forEach(document -> looked.changed().add(document.name()));
        if (all) {
            found.stream()
                    .filter(document -> document.info().archived())
                    .forEach(document -> looked.others().add(document.name()));
        }
        if (!handOut(looked)) {
            survey.unfed(place);
            feed = all && begun == null ? looked : begun;
        }
    }

    /** Returns the latest time of the next scan of a slot that is scanned now. */
    private long nextMillis(long nowMillis) {
        return nowMillis + TimeUnit.NANOSECONDS.toMillis(roundNanos);
    }

    private void goOn(Feed begun) {
        if (handOut(begun)) {
            feed = null;
            survey.fed(begun.place().slot());
        }
    }

    /** Hands out as many documents as the queue has space for. Returns whether these are all. */
    private boolean handOut(Feed found) {
        return handOut(found.place(), found.changed(), () -> true)
                && handOut(found.place(), found.others(), queue::roomy);
    }

    private boolean handOut(Place place, Queue<DocumentName> names, BooleanSupplier may) {
        DocumentName next = names.peek();
        while (next != null && may.getAsBoolean() && queue.offer(next, job -> job.place = place)) {
            names.remove();
            next = names.peek();
        }
        return next == null;
    }

    private Change change(Found found) {
        ArchiveMark mark = found.info().attributes().archived();
        return new Change(mark == null ? 0 : mark.takenAtMillis(), intervals.afterMillis(found.name()));
    }

    private void lookAtDeletions() {
        long now = clock.millis();
        List<Deletion> deletions = documents.pendingDeletions();
        List<Change> found = deletions.stream()
                .map(deletion -> new Change(deletion.deletedAtMillis(), intervals.afterMillis(deletion.name())))
                .toList();
        Place place = survey.visited(DELETIONS, now, nextMillis(now), false, found);
        for (Deletion deletion : deletions) {
            if (!queue.offer(deletion.name(), job -> job.deletions.put(deletion, place))) {
                survey.unfed(place);
                return;
            }
        }
    }
}
