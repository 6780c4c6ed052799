package io.caravan.server.archive.push;

import io.caravan.server.archive.push.Survey.Finding;
import io.caravan.server.archive.push.Survey.Place;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.Deletion;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ScanPage.Found;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Goes through all documents round after round, a stripe at a time at even intervals, and hands out what the archive does
 * not have. What the queue has no room for is found again when it has; so it goes on to look, and to know how much there is
 * to do, while nothing can be archived. The first round takes no time off, and neither does a round that is late.
 *
 * <p>One thread runs it; {@link #hurry} and {@link #stop} are for others.
 */
final class Walker implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Walker.class);
    private static final int DELETIONS = DocumentService.STRIPES;

    /** Number of slots of the survey: the stripes of the documents, and the deletions. */
    static final int SLOTS = DocumentService.STRIPES + 1;

    private final DocumentService documents;
    private final JobQueue queue;
    private final Survey survey;
    private final InstantSource clock;
    private final Runnable verified;
    private final long roundNanos;
    private boolean distrusting;

    private long roundStartNanos;
    private int slot;
    private int fedSlot;
    private volatile @Nullable CompletableFuture<Void> hurry;
    private volatile boolean stopped;
    private @Nullable CompletableFuture<Void> hurrying;

    /**
     * A walker that has not begun.
     *
     * @param round how long a round takes
     * @param verified is run when all marks are found to be right, or made right, after they could not be believed
     */
    Walker(
            DocumentService documents,
            JobQueue queue,
            Survey survey,
            InstantSource clock,
            Duration round,
            Runnable verified) {
        this.documents = documents;
        this.queue = queue;
        this.survey = survey;
        this.clock = clock;
        this.verified = verified;
        this.roundNanos = round.toNanos();
        startRound();
    }

    /** Begins a round now that is late for all slots. */
    private void startRound() {
        roundStartNanos = System.nanoTime() - roundNanos;
        slot = 0;
    }

    /** Goes through all documents once more, at once; told when all that it finds has been handed out. */
    CompletableFuture<Void> hurry() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        hurry = done;
        queue.wake();
        return done;
    }

    /** Ends the walk. */
    void stop() {
        stopped = true;
        queue.wake();
    }

    /** Walks until it is stopped. */
    @Override
    public void run() {
        while (!stopped && !Thread.currentThread().isInterrupted()) {
            try {
                step();
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException | Error problem) {
                // What is thrown here would be the last that is heard of the walker.
                LOG.error("documents of a stripe wait for the next round to be archived", problem);
            }
        }
    }

    private void step() throws InterruptedException {
        takeHurry();
        tellVerified();
        long waitNanos = roundStartNanos + slot * (roundNanos / SLOTS) - System.nanoTime();
        int unfed = survey.nextUnfed(fedSlot);
        if (waitNanos <= 0) {
            int due = slot;
            advance();
            look(due);
        } else if (unfed >= 0 && queue.roomy()) {
            fedSlot = unfed;
            survey.fed(unfed);
            look(unfed);
        } else {
            endHurry(unfed);
            queue.awaitRoom(waitNanos, unfed >= 0);
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

    private void takeHurry() {
        CompletableFuture<Void> wanted = hurry;
        if (wanted != null) {
            hurry = null;
            hurrying = wanted;
            startRound();
        }
    }

    /** Nothing is due: the round that was asked for is over, if all of it was handed out. */
    private void endHurry(int unfed) {
        if (hurrying != null && unfed < 0) {
            hurrying.complete(null);
            hurrying = null;
        }
    }

    private void advance() {
        slot++;
        if (slot == SLOTS) {
            slot = 0;
            long now = System.nanoTime();
            roundStartNanos += roundNanos;
            if (now - roundStartNanos > roundNanos) {
                roundStartNanos = now - roundNanos;
            }
        }
    }

    private void look(int at) {
        if (at == DELETIONS) {
            lookAtDeletions();
        } else {
            lookAtDocuments(at);
        }
    }

    private void lookAtDocuments(int stripe) {
        boolean all = survey.unverified(stripe);
        Finding finding = new Finding(clock.millis(), all);
        List<Found> changed = documents.stripe(stripe).stream()
                .filter(found -> all || !found.info().archived())
                .toList();
        changed.forEach(found -> finding.add(lastArchivedMillis(found)));
        Place place = survey.visited(stripe, finding);
        for (Found found : changed) {
            if (!queue.offer(found.name(), job -> job.place(place))) {
                survey.unfed(place);
                return;
            }
        }
    }

    private static long lastArchivedMillis(Found found) {
        ArchiveMark mark = found.info().attributes().archived();
        return mark == null ? 0 : mark.takenAtMillis();
    }

    private void lookAtDeletions() {
        Finding finding = new Finding(clock.millis(), false);
        List<Deletion> deletions = documents.pendingDeletions();
        deletions.forEach(deletion -> finding.add(deletion.deletedAtMillis()));
        Place place = survey.visited(DELETIONS, finding);
        for (Deletion deletion : deletions) {
            if (!queue.offer(deletion.name(), job -> job.add(deletion, place))) {
                survey.unfed(place);
                return;
            }
        }
    }
}
