package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.ArchiveSlot.Change;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ScanPage.Found;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scans all documents in rounds, one stripe at a time at even intervals. Schedules the changes that the archive lacks,
 * except those that can wait for the next round without exceeding their maximum age. A slot that lacked space is
 * scanned again when there is space. Scans continue while nothing can be archived, so the backlog stays current. The
 * scanner does not pause during the first round, or during a round that is late.
 *
 * <p>One thread runs it; other threads may call {@link #hurry} and {@link #stop}.
 */
final class DirtyScanner implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(DirtyScanner.class);
    /**
     * The number of slots between two scans of the deletions. Deletions are scanned more often than documents, because
     * a document that changed before its deletion has already waited for its own slot.
     * {@link ArchiveSchedule#DELETIONS} is a multiple of this number.
     */
    private static final int DELETIONS_EVERY = DocumentService.STRIPES / 8;

    /** The maximum delay until a change to the round duration takes effect. */
    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final DocumentService documents;
    private final ArchiveSchedule schedule;
    private final InstantSource clock;
    private final Duration after;
    private boolean verifying;

    private long roundNanos;
    /** The time at which the next slot is due. */
    private long dueNanos;

    private int slot;
    /** The slots that lacked space, in the order in which they are scanned again when there is space. */
    private final Set<Integer> lackingSpace = new LinkedHashSet<>();

    /** The last request of {@link #hurry}; it also completes the requests before it. */
    private volatile CompletableFuture<Boolean> hurry = CompletableFuture.completedFuture(true);

    private volatile boolean stopped;
    /** The request for which the current round began. */
    private CompletableFuture<Boolean> hurrying = hurry;

    DirtyScanner(DocumentService documents, ArchiveSchedule schedule, InstantSource clock, Duration after) {
        this.documents = documents;
        this.schedule = schedule;
        this.clock = clock;
        this.after = after;
        this.roundNanos = maxRoundNanos();
        startRound();
    }

    /** Begins a round in which all slots are due immediately. */
    private void startRound() {
        dueNanos = System.nanoTime() - roundNanos;
        slot = 0;
    }

    /**
     * Scans all documents now, without pauses. The future completes with true when all changes found are scheduled, or
     * with false if the scanner stops before.
     */
    synchronized CompletableFuture<Boolean> hurry() {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        done.thenAccept(hurry::complete);
        hurry = done;
        if (stopped) {
            done.complete(false);
        }
        schedule.wake();
        return done;
    }

    void stop() {
        stopped = true;
        schedule.wake();
    }

    @Override
    public void run() {
        while (!stopped && !Thread.currentThread().isInterrupted()) {
            try {
                step();
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            } catch (RuntimeException | Error problem) {
                // An uncaught exception would end the only scanner.
                LOG.error("a scan has failed: the changes of its documents wait for the next round", problem);
            }
        }
        stopped = true;
        hurry.complete(false);
    }

    private void step() throws InterruptedException {
        startRoundIfNeeded();
        long waitNanos = dueNanos - System.nanoTime();
        if (waitNanos <= 0) {
            scan(nextSlot());
        } else if (!lackingSpace.isEmpty() && schedule.hasSpace()) {
            Integer next = lackingSpace.iterator().next();
            // Goes to the end of the order first: if the scan fails, the other slots are next.
            lackingSpace.remove(next);
            lackingSpace.add(next);
            scan(next);
        } else {
            if (lackingSpace.isEmpty()) {
                hurrying.complete(true);
            }
            schedule.awaitSpace(Math.min(waitNanos, LONGEST_WAIT_NANOS), !lackingSpace.isEmpty());
        }
    }

    private void startRoundIfNeeded() {
        CompletableFuture<Boolean> wanted = hurry;
        if (hurrying != wanted) {
            hurrying = wanted;
            startRound();
        }
        boolean verifiedBefore = !verifying;
        verifying = !schedule.verified();
        if (verifying && verifiedBefore) {
            startRound();
        }
        long nanos = maxRoundNanos();
        if (nanos != roundNanos) {
            // If rounds became longer, changes that were left to the next round would wait too long.
            roundNanos = nanos;
            startRound();
        }
    }

    /** Returns the longest round duration that lets no change exceed its maximum age. */
    private long maxRoundNanos() {
        Duration shortest = documents.spaces().all().stream()
                .map(space -> Duration.ofSeconds(space.settings().get(SpaceSetting.ARCHIVE_AFTER)))
                .filter(maximum -> !maximum.isZero() && maximum.compareTo(after) < 0)
                .min(Duration::compareTo)
                .orElse(after);
        return shortest.multipliedBy(4).dividedBy(5).toNanos();
    }

    /** Returns the maximum age of a change, as set by the document's space or by the server. */
    private long afterMillis(DocumentName name) {
        Space space = documents.spaces().find(name);
        long seconds = space == null ? 0 : space.settings().get(SpaceSetting.ARCHIVE_AFTER);
        return seconds == 0 ? after.toMillis() : TimeUnit.SECONDS.toMillis(seconds);
    }

    private int nextSlot() {
        int due = slot;
        slot = (slot + 1) % ArchiveSchedule.SLOTS;
        dueNanos += roundNanos / ArchiveSchedule.SLOTS;
        // A round that is late by more than its duration is not made up for.
        long earliest = System.nanoTime() - roundNanos;
        dueNanos = earliest - dueNanos > 0 ? earliest : dueNanos;
        return due;
    }

    private void scan(int number) {
        if (number != ArchiveSchedule.DELETIONS) {
            scanDocuments(number);
        }
        if (number % DELETIONS_EVERY == 0) {
            scanDeletions();
        }
    }

    private void scanDocuments(int stripe) {
        long now = clock.millis();
        long next = nextMillis(now);
        boolean all = schedule.mustVerify(stripe);
        List<Change> changed = new ArrayList<>();
        List<Change> unchanged = new ArrayList<>();
        for (Found document : documents.stripe(stripe)) {
            ArchiveMark mark = document.info().attributes().archived();
            Change change = new Change(
                    document.name(), null, mark == null ? 0 : mark.takenAtMillis(), afterMillis(document.name()));
            if (!document.info().archived()) {
                if (all || !hurrying.isDone() || !change.mayWait(now, next)) {
                    changed.add(change);
                }
            } else if (all) {
                // A document that has not changed since it was archived does not count as late.
                unchanged.add(new Change(document.name(), null, 0, afterMillis(document.name())));
            }
        }
        scanned(stripe, schedule.scanned(stripe, now, next, changed, all ? unchanged : null));
    }

    private void scanned(int number, boolean complete) {
        if (complete) {
            lackingSpace.remove(number);
        } else {
            lackingSpace.add(number);
        }
    }

    /** Returns the latest time at which a slot that is scanned now will be scanned again. */
    private long nextMillis(long nowMillis) {
        return nowMillis + TimeUnit.NANOSECONDS.toMillis(roundNanos);
    }

    private void scanDeletions() {
        long now = clock.millis();
        List<Change> found = documents.pendingDeletions().stream()
                .map(deletion ->
                        new Change(deletion.name(), deletion, deletion.deletedAtMillis(), afterMillis(deletion.name())))
                .toList();
        int number = ArchiveSchedule.DELETIONS;
        scanned(number, schedule.scanned(number, now, nextMillis(now), found, null));
    }
}
