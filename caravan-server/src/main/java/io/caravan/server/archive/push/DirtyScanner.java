package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.ArchiveSchedule.Change;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ScanPage.Found;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Scans all documents in rounds, one stripe at a time at even intervals. Schedules the changes that the archive lacks,
 * except those that can wait for the next round without exceeding their maximum age. A slot that lacked space is
 * scanned again when there is space. A slot whose scan fails waits for the next round. Scans continue while nothing
 * can be archived, so the backlog stays current. The scanner does not pause during the first round, or during a round
 * that is late.
 *
 * <p>One thread repeats {@link #step}; other threads may call {@link #archiveAll}.
 */
final class DirtyScanner {
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
    /** Whether no change may wait for the next round. */
    private volatile boolean hurry;

    private volatile long roundNanos;
    /** The time at which the next slot is due. */
    private long dueNanos;

    private int slot;

    DirtyScanner(DocumentService documents, ArchiveSchedule schedule, InstantSource clock, Duration after) {
        this.documents = documents;
        this.schedule = schedule;
        this.clock = clock;
        this.after = after;
        startRound();
    }

    /** Begins a round in which all slots are due immediately. */
    private void startRound() {
        roundNanos = maxRoundNanos();
        dueNanos = System.nanoTime() - roundNanos;
        slot = 0;
    }

    /**
     * Schedules all changes now, and waits until they are archived. Returns false if that is not possible within this
     * time, or if the schedule ends first. If the scans of some slots fail, archives the changes in the other slots, and
     * then throws the first exception.
     */
    boolean archiveAll(long nanos) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        RuntimeException failure = null;
        hurry = true;
        try {
            int number = 0;
            for (; number < ArchiveSchedule.SLOTS && System.nanoTime() - deadline < 0; number++) {
                try {
                    scan(number);
                } catch (RuntimeException failed) {
                    failure = failure == null ? failed : failure;
                }
            }
            boolean archived = number == ArchiveSchedule.SLOTS
                    && schedule.awaitIdle(deadline - System.nanoTime())
                    && schedule.verified()
                    && schedule.backlog().count == 0;
            if (failure != null) {
                throw failure;
            }
            return archived;
        } finally {
            hurry = false;
        }
    }

    /** Scans the next slot, or waits until one is due or has space. */
    void step() throws InterruptedException {
        if (roundNanos != maxRoundNanos()) {
            // If rounds became longer, changes that were left to the next round would wait too long.
            startRound();
        }
        long waitNanos = dueNanos - System.nanoTime();
        Integer next = waitNanos <= 0
                ? Integer.valueOf(nextSlot())
                : schedule.awaitRescan(Math.min(waitNanos, LONGEST_WAIT_NANOS));
        if (next != null) {
            scan(next);
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

    /** Scans a slot. The monitor ensures that the schedule receives the results of two scans in their order. */
    private synchronized void scan(int number) {
        if (number != ArchiveSchedule.DELETIONS) {
            scan(number, () -> scanDocuments(number));
        }
        if (number % DELETIONS_EVERY == 0) {
            scan(ArchiveSchedule.DELETIONS, this::scanDeletions);
        }
    }

    private void scan(int number, Runnable scan) {
        try {
            scan.run();
        } catch (RuntimeException | Error failed) {
            schedule.scanFailed(number);
            throw failed;
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
                if (all || hurry || !change.mayWait(now, next)) {
                    changed.add(change);
                }
            } else if (all) {
                // A document that has not changed since it was archived does not count as late.
                unchanged.add(new Change(document.name(), null, 0, afterMillis(document.name())));
            }
        }
        schedule.scanned(stripe, now, next, changed, all ? unchanged : null);
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
        schedule.scanned(ArchiveSchedule.DELETIONS, now, nextMillis(now), found, null);
    }
}
