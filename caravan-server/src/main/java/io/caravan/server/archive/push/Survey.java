package io.caravan.server.archive.push;

import java.util.BitSet;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the walker has found, slot by slot: how much there was to do, how much of that is done, and since when at most
 * it has waited. Threads share it.
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

    /** One look at a slot, where what it found is counted. */
    static final class Place {
        private final int slot;
        private final long lookedMillis;
        /** Since when at most the oldest thing that was found waits. */
        private final long oldestMillis;

        private boolean verifies;
        private int left;

        private Place(int slot, long lookedMillis, long oldestMillis, boolean verifies, int left) {
            this.slot = slot;
            this.lookedMillis = lookedMillis;
            this.oldestMillis = oldestMillis;
            this.verifies = verifies;
            this.left = left;
        }

        int slot() {
            return slot;
        }
    }

    /**
     * A slot was looked at.
     *
     * @param nowMillis when the look began, in milliseconds since 1970
     * @param all whether all documents were found, not only those that have changed
     * @param lastMillis for each thing to do, when there was nothing to do about it, at the latest; 0 when that is not
     *     known
     */
    synchronized Place visited(int slot, long nowMillis, boolean all, long... lastMillis) {
        Place before = last[slot];
        // What an earlier look has found and is still to be done waits since before that.
        long since = before == null ? startedMillis : before.left > 0 ? before.oldestMillis : before.lookedMillis;
        long oldest = Long.MAX_VALUE;
        for (long unchanged : lastMillis) {
            oldest = Math.min(oldest, unchanged == 0 ? since : unchanged);
        }
        if (before != null) {
            oldest = Math.max(since, oldest);
            total -= before.left;
        }
        total += lastMillis.length;
        Place place = new Place(slot, nowMillis, oldest, all, lastMillis.length);
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
        return Stream.of(last)
                .filter(place -> place != null && place.left > 0)
                .mapToLong(place -> place.oldestMillis)
                .min()
                .orElse(Long.MAX_VALUE);
    }
}
