package io.caravan.server.archive.push;

import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the walker has found, slot by slot: how much there was to do, how much of that is done, since when at most it has
 * waited, and until when it may. What may wait for the next look is not found. Threads share it.
 *
 * <p>A slot is a stripe of the documents; the last slot has the deletions. No document has a state of its own, so the
 * age of its change is bounded from above: it was archived, or found unchanged, before it changed. A document that was
 * never archived, and that the first look after a start finds, counts as changed at the start.
 *
 * <p>When the documents' marks may be about another archive than this one, each slot is unverified until all of its
 * documents have been looked at.
 */
final class Survey {
    /** The last look at each slot. */
    private final @Nullable Place[] last;

    private final BitSet unfed = new BitSet();
    private final BitSet unverified = new BitSet();
    private final long startedMillis;
    private long total;

    /**
     * A survey that has found nothing yet.
     *
     * @param startedMillis when the server started, in milliseconds since 1970
     */
    Survey(int slots, long startedMillis) {
        this.last = new Place[slots];
        this.startedMillis = startedMillis;
    }

    /**
     * Something to do.
     *
     * @param lastMillis when there was nothing to do about it, at the latest, in milliseconds since 1970; 0 when that is
     *     not known
     * @param afterMillis how old a change may get
     */
    record Change(long lastMillis, long afterMillis) {
        /**
         * Whether a look may leave this to the next one: a fifth of its time is then left for archiving it. A time in
         * the future, which another clock has told, is no reason to wait.
         *
         * @param nowMillis when the look is
         * @param nextMillis when the next one is, at the latest
         */
        boolean mayWait(long nowMillis, long nextMillis) {
            return lastMillis != 0 && lastMillis <= nowMillis && nextMillis - lastMillis < afterMillis / 5 * 4;
        }
    }

    /** One look at a slot, where what it found is counted. */
    static final class Place {
        private final int slot;
        private final long lookedMillis;
        private final long nextMillis;
        /** Since when at most the oldest thing that was found waits. */
        private final long oldestMillis;
        /** Until when at least everything that was found may wait. */
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

        /** What an earlier look has found, and is still to be done, may be what is found again. */
        private long since() {
            return left > 0 ? oldestMillis : lookedMillis;
        }

        private long dueAfter(long afterMillis) {
            long due = lookedMillis + afterMillis;
            return left > 0 ? Math.min(dueMillis, due) : due;
        }

        /** Whether something that is found now may have been left to wait by this look. */
        private boolean left(Change change) {
            return change.mayWait(lookedMillis, nextMillis);
        }

        int slot() {
            return slot;
        }
    }

    /**
     * A slot was looked at.
     *
     * @param nowMillis when the look began, in milliseconds since 1970
     * @param nextMillis when the slot is looked at again, at the latest
     * @param all whether all documents were found, not only those that have changed
     * @param found each thing to do that does not wait for the next look
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

    /** There was no room to hand out all that was found. */
    synchronized void unfed(Place place) {
        unfed.set(place.slot);
    }

    /** A slot was handed out, or is about to be looked at again. */
    synchronized void fed(int slot) {
        unfed.clear(slot);
    }

    /** Something has been done, or needs not be any more. What a later look has found is counted by that. */
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

    /** Has the first slots looked at whole, whatever the marks say. */
    synchronized void distrust(int slots) {
        Stream.of(last).filter(Objects::nonNull).forEach(place -> place.verifies = false);
        unverified.set(0, slots);
    }

    /** Whether a slot's documents are all to be looked at. */
    synchronized boolean unverified(int slot) {
        return unverified.get(slot);
    }

    /** Whether marks can be believed, of whatever document. */
    synchronized boolean verified() {
        return unverified.isEmpty();
    }

    /** The next slot, from this one on and around, of which not all was handed out; -1 when there is none. */
    synchronized int nextUnfed(int from) {
        int next = unfed.nextSetBit(from);
        return next >= 0 ? next : unfed.nextSetBit(0);
    }

    /** How many documents and deletions are known to wait. */
    synchronized long backlog() {
        return total;
    }

    /** Since when at most the oldest of them waits, in milliseconds since 1970; {@link Long#MAX_VALUE} without any. */
    synchronized long oldestMillis() {
        return least(place -> place.oldestMillis);
    }

    /** Until when at least all of them may wait, in milliseconds since 1970; {@link Long#MAX_VALUE} without any. */
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
