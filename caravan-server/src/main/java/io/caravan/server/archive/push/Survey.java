package io.caravan.server.archive.push;

import java.util.BitSet;

/**
 * What the walker has found, slot by slot: how much there was to do, how much of that has been done since, and since
 * when at most it may have waited. Threads share it.
 *
 * <p>A slot is a stripe of the documents; the last one is that of the deletions. There is no state of a document's own,
 * so the age of its change is bounded from above: the document was archived, or looked at and found unchanged, before
 * it changed. Of one that was never archived, and that the first look after a start finds, nothing is known; it counts
 * as changed at the start.
 *
 * <p>When the documents' marks may be about another archive than this one, all slots are unverified until a look at all
 * of a slot's documents has come to its end.
 */
final class Survey {
    private final int[] backlog;
    private final int[] visits;
    private final long[] visitedMillis;
    private final long[] oldestMillis;
    private final BitSet unfed;
    private final BitSet unverified;
    /** Slots whose last look was at all documents. */
    private final BitSet verifying;

    private final long startedMillis;
    private long total;

    /**
     * A survey that has found nothing yet.
     *
     * @param startedMillis when the server started, in milliseconds since 1970
     */
    Survey(int slots, long startedMillis) {
        this.backlog = new int[slots];
        this.visits = new int[slots];
        this.visitedMillis = new long[slots];
        this.oldestMillis = new long[slots];
        this.unfed = new BitSet(slots);
        this.unverified = new BitSet(slots);
        this.verifying = new BitSet(slots);
        this.startedMillis = startedMillis;
    }

    /**
     * Where something is counted.
     *
     * @param visit number of the look at the slot that found it
     */
    record Place(int slot, int visit) {}

    /** What one look at a slot finds. */
    static final class Finding {
        private final long nowMillis;
        private final boolean verifying;
        private int count;
        private long unchangedMillis = Long.MAX_VALUE;
        private boolean unknown;

        /**
         * Nothing yet.
         *
         * @param nowMillis when the look began, in milliseconds since 1970
         * @param verifying whether all documents are found, not only those that have changed
         */
        Finding(long nowMillis, boolean verifying) {
            this.nowMillis = nowMillis;
            this.verifying = verifying;
        }

        /**
         * There is something to do.
         *
         * @param lastMillis when there was nothing to do about it, at the latest; 0 when that is not known
         */
        void add(long lastMillis) {
            count++;
            unknown |= lastMillis == 0;
            unchangedMillis = lastMillis == 0 ? unchangedMillis : Math.min(unchangedMillis, lastMillis);
        }

        private long oldest(long otherwise) {
            return unknown ? Math.min(unchangedMillis, otherwise) : unchangedMillis;
        }
    }

    /** A slot was looked at; returns where what was found is counted. */
    synchronized Place visited(int slot, Finding finding) {
        if (visits[slot] == 0) {
            oldestMillis[slot] = finding.oldest(startedMillis);
        } else {
            // What an earlier look has found and is still to be done waits since before that.
            long before = backlog[slot] > 0 ? oldestMillis[slot] : visitedMillis[slot];
            oldestMillis[slot] = Math.max(before, finding.oldest(before));
        }
        visitedMillis[slot] = finding.nowMillis;
        total += finding.count - backlog[slot];
        backlog[slot] = finding.count;
        unfed.clear(slot);
        verifying.set(slot, finding.verifying);
        verifyIfDone(slot);
        return new Place(slot, ++visits[slot]);
    }

    /** There was no room to hand out all that was found. */
    synchronized void unfed(Place place) {
        unfed.set(place.slot());
    }

    /** A slot is about to be looked at again. */
    synchronized void fed(int slot) {
        unfed.clear(slot);
    }

    /** Something has been done, or needs not be any more. What a later look has found is counted by that. */
    synchronized void done(Place place) {
        int slot = place.slot();
        if (visits[slot] == place.visit() && backlog[slot] > 0) {
            backlog[slot]--;
            total--;
            verifyIfDone(slot);
        }
    }

    private void verifyIfDone(int slot) {
        if (backlog[slot] == 0 && verifying.get(slot)) {
            unverified.clear(slot);
        }
    }

    /** Has the first slots looked at whole, whatever the marks say. */
    synchronized void distrust(int slots) {
        verifying.clear();
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
        long oldest = Long.MAX_VALUE;
        for (int slot = 0; slot < backlog.length; slot++) {
            if (backlog[slot] > 0) {
                oldest = Math.min(oldest, oldestMillis[slot]);
            }
        }
        return oldest;
    }
}
