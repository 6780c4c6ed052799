package io.caravan.engine;

import io.caravan.format.Region;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.index.Pins.Pin;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Chooses what moves from the log to the heap, batch by batch: the entries of all lists that are retained or that a
 * reader has pinned. A list is pinned from when it is found until its last batch is done with, so neither its entries nor
 * its record go away meanwhile. Used by the checkpointer only.
 */
final class Survivors {
    /** The most entries that are moved together. */
    static final int BATCH_ENTRIES = 1 << 14;

    /** The most bytes that are, but for the last entry's. */
    private static final int BATCH_BYTES = 1 << 20;
    /** Lists that are pinned at a time, about. */
    private static final int PINNED_LISTS = 1 << 12;
    /** Regions that are looked at under one hold of the lock. */
    private static final int SLICE = 512;

    private final StoreState state;
    private final HeapSpace space;
    private final ArrayDeque<Young> pinned = new ArrayDeque<>();
    private final List<Young> finished = new ArrayList<>();
    private final List<Run> runs = new ArrayList<>();
    private final long[] regions = new long[BATCH_ENTRIES];
    private int count;
    private long bytes;

    Survivors(StoreState state, HeapSpace space) {
        this.state = state;
        this.space = space;
    }

    /** A pinned list, and how far its entries have been looked at. */
    private static final class Young {
        final Pin pin;
        final ListCursor cursor = new ListCursor();
        long next;

        Young(Pin pin) {
            this.pin = pin;
            this.next = pin.from();
        }
    }

    /** Entries of a list that the batch has, {@code count} of them from index {@code at} on. */
    record Run(int list, long id, long birth, long from, int at, int count) {}

    /** Whether all of the lists that are pinned have been gathered. */
    boolean isEmpty() {
        return pinned.isEmpty();
    }

    /** The batch's entries, list by list. */
    List<Run> runs() {
        return runs;
    }

    /** How many entries the batch has. */
    int count() {
        return count;
    }

    /** Bytes of the batch's entries. */
    long bytes() {
        return bytes;
    }

    /** Where an entry of the batch lies in the log. */
    long region(int index) {
        return regions[index];
    }

    /** Goes on with the walk through all lists until many are pinned. Returns where the next goes on. */
    long pinLists(long from) {
        long position = from;
        do {
            state.lock.lockForSlice();
            try {
                position = state.index.visit(position, this::pinIfYoung);
            } finally {
                state.lock.unlock();
            }
        } while (position != 0 && pinned.size() < PINNED_LISTS);
        return position;
    }

    /** Pins the lists that readers have pinned: a list may have been removed before the walk came to it. */
    void pinReaders() {
        state.lock.lockForSlice();
        try {
            state.index.pinnedLists().forEach(this::pinIfYoung);
        } finally {
            state.lock.unlock();
        }
    }

    private void pinIfYoung(int list) {
        ListIndex index = state.index;
        if (index.tenured(list) < index.next(list)) {
            pinned.add(new Young(index.pin(list, Math.max(index.tenured(list), index.firstKept(list)))));
        }
    }

    /** Lets go of the lists that are done with. */
    void unpinFinished() {
        int next = 0;
        while (next < finished.size()) {
            state.lock.lockForSlice();
            try {
                for (int end = Math.min(next + SLICE, finished.size()); next < end; next++) {
                    space.unpin(finished.get(next).pin);
                }
            } finally {
                state.lock.unlock();
            }
        }
        finished.clear();
    }

    /** Lets go of all lists. */
    void unpinAll() {
        finished.addAll(pinned);
        pinned.clear();
        unpinFinished();
    }

    /** Fills the batch with the next entries before an LSN. */
    void gather(long untilLsn) {
        runs.clear();
        count = 0;
        bytes = 0;
        while (!pinned.isEmpty() && hasRoom()) {
            state.lock.lockForSlice();
            try {
                int looked = 0;
                while (looked < SLICE && !pinned.isEmpty() && hasRoom()) {
                    looked += gatherFrom(pinned.element(), untilLsn);
                }
            } finally {
                state.lock.unlock();
            }
        }
    }

    private boolean hasRoom() {
        return count < regions.length && bytes < BATCH_BYTES;
    }

    /** Adds the next entries of a list to the batch, or finds that there are no more. Returns how much work it was. */
    private int gatherFrom(Young young, long untilLsn) {
        ListIndex index = state.index;
        int list = young.pin.list();
        if (!index.seek(list, young.next, young.cursor, StoreState.SEEK_CHUNKS)) {
            return SLICE;
        }
        int first = count;
        int copied = (int) Math.min(Math.min(SLICE, regions.length - first), index.next(list) - young.next);
        index.copyRegions(young.cursor, regions, first, copied);
        while (count < first + copied && hasRoom() && isYoung(regions[count], untilLsn)) {
            bytes += Region.entryBytes(regions[count]);
            count++;
        }
        int added = count - first;
        if (added > 0) {
            runs.add(new Run(list, index.id(list), index.birth(list), young.next, first, added));
            young.next += added;
        } else {
            finished.add(pinned.remove());
        }
        return copied + 1;
    }

    private static boolean isYoung(long region, long untilLsn) {
        return Region.isInLog(region) && Region.entryLsn(region, untilLsn) < untilLsn;
    }
}
