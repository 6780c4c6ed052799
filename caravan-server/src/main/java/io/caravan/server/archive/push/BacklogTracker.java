package io.caravan.server.archive.push;

import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the walker's findings by slot: items found, items done, an upper bound on how long the oldest has waited, and
 * the earliest deadline. Items that can wait for the next scan are excluded. Thread-safe.
 *
 * <p>A slot is a stripe of the documents; the last slot has the deletions. The survey keeps no state for each document,
 * only an upper bound on the age of a change: the document changed after it was last archived or found unchanged. A
 * never archived document that the first scan after a start finds counts as changed at the start.
 *
 * <p>When the documents' marks may refer to another archive, each slot is unverified until all of its documents have
 * been checked.
 */
final class BacklogTracker {
    /** The last scan of each slot. */
    private final @Nullable Place[] last;

    private final BitSet unfed = new BitSet();
    private final BitSet unverified = new BitSet();
    private final long startedMillis;
    private long total;

    /**
     * Creates an empty survey.
     *
     * @param startedMillis when the server started, in milliseconds since 1970
     */
    BacklogTracker(int slots, long startedMillis) {
        this.last = new Place[slots];
        this.startedMillis = startedMillis;
    }

    /**
     * An item to archive.
     *
     * @param lastMillis the last known time when it needed no archiving, in milliseconds since 1970; 0 when that is not
     *     known
     * @param afterMillis maximum age of a change
     */
    record Change(long lastMillis, long afterMillis) {
        /**
         * Whether a scan may leave this item to the next scan, because a fifth of its time then still remains for
         * archiving it. An item with a time in the future, set by another clock, does not wait.
         *
         * @param nowMillis the time of the scan
         * @param nextMillis the latest time of the next scan
         */
        boolean mayWait(long nowMillis, long nextMillis) {
            return lastMillis != 0 && lastMillis <= nowMillis && nextMillis - lastMillis < afterMillis / 5 * 4;
        }
    }

    /** One scan of a slot, which counts the items it found. */
    static final class Place {
        private final int slot;
        private final long lookedMillis;
        private final long nextMillis;
        /** The earliest time since which the oldest item found can have been waiting. */
        private final long oldestMillis;
        /** The earliest time at which an item found can be due. */
        private final long dueMillis;

        private boolean verifies;
        private int left;

        private Place(
                int slot,
                long lookedMillis,
                long nextMillis,
                long oldestMillis,
                long dueMillis,
                boolean verifies,
                int left) {
            this.slot = slot;
            this.lookedMillis = lookedMillis;
            this.nextMillis = nextMillis;
            this.oldestMillis = oldestMillis;
            this.dueMillis = dueMillis;
            this.verifies = verifies;
            this.left = left;
        }

        /** Unfinished items of this scan may be among those that the next scan finds. */
        private long since() {
            return left > 0 ? oldestMillis : lookedMillis;
        }

        private long dueAfter(long afterMillis) {
            long due = lookedMillis + afterMillis;
            return left > 0 ? Math.min(dueMillis, due) : due;
        }

        /** Whether this scan may have left an item that the next scan finds. */
        private boolean left(Change change) {
            return change.mayWait(lookedMillis, nextMillis);
        }

        int slot() {
            return slot;
        }
    }

    /**
     * Records a scan of a slot.
     *
     * @param nowMillis when the scan began, in milliseconds since 1970
     * @param nextMillis the latest time when the slot is scanned again
     * @param all whether all documents were found, not only those that have changed
     * @param found each item that cannot wait for the next scan
     */
    synchronized Place visited(int slot, long nowMillis, long nextMillis, boolean all, List<Change> found) {
        Place before = last[slot];
        long oldest = Long.MAX_VALUE;
        long due = Long.MAX_VALUE;
        for (Change change : found) {
            long since = change.lastMillis();
            long until = since + change.afterMillis();
            if (before == null) {
                since = since == 0 ? startedMillis : since;
                until = since + change.afterMillis();
            } else if (!before.left(change)) {
                since = Math.max(before.since(), since);
                until = Math.max(before.dueAfter(change.afterMillis()), until);
            }
            oldest = Math.min(oldest, since);
            due = Math.min(due, until);
        }
        if (before != null) {
            total -= before.left;
        }
        total += found.size();
        Place place = new Place(slot, nowMillis, nextMillis, oldest, due, all, found.size());
        last[slot] = place;
        unfed.clear(slot);
        verifyIfDone(place);
        return place;
    }

    /** Records that the queue had no space for all items found. */
    synchronized void unfed(Place place) {
        unfed.set(place.slot);
    }

    /** Records that a slot was handed out completely, or is about to be scanned again. */
    synchronized void fed(int slot) {
        unfed.clear(slot);
    }

    /** Marks one item as done or no longer necessary. Items found by a later scan are counted by that scan. */
    synchronized void done(Place place) {
        if (last[place.slot] == place && place.left > 0) {
            place.left--;
            total--;
            verifyIfDone(place);
        }
    }

    private void verifyIfDone(Place place) {
        if (place.left == 0 && place.verifies) {
            unverified.clear(place.slot);
        }
    }

    /** Marks the first slots as unverified, so that all their documents are checked. */
    synchronized void distrust(int slots) {
        Stream.of(last).filter(Objects::nonNull).forEach(place -> place.verifies = false);
        unverified.set(0, slots);
    }

    /** Whether all documents of a slot must be checked. */
    synchronized boolean unverified(int slot) {
        return unverified.get(slot);
    }

    /** Whether the marks of all documents are reliable. */
    synchronized boolean verified() {
        return unverified.isEmpty();
    }

    /**
     * Returns the next slot that was not completely handed out, starting at this one and wrapping around; -1 when there
     * is none.
     */
    synchronized int nextUnfed(int from) {
        int next = unfed.nextSetBit(from);
        return next >= 0 ? next : unfed.nextSetBit(0);
    }

    /** Returns the number of documents and deletions that were found and are not done. */
    synchronized long backlog() {
        return total;
    }

    /**
     * Returns the earliest time since which the oldest item can have been waiting, in milliseconds since 1970; {@link
     * Long#MAX_VALUE} if there is none.
     */
    synchronized long oldestMillis() {
        return least(place -> place.oldestMillis);
    }

    /** Returns the earliest time at which an item can be due, as for {@link #oldestMillis}. */
    synchronized long dueMillis() {
        return least(place -> place.dueMillis);
    }

    private long least(ToLongFunction<Place> millis) {
        return Stream.of(last)
                .filter(place -> place != null && place.left > 0)
                .mapToLong(millis)
                .min()
                .orElse(Long.MAX_VALUE);
    }
}
