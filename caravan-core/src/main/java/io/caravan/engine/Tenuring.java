package io.caravan.engine;

import io.caravan.format.Region;
import io.caravan.heap.Heap;
import io.caravan.heap.HeapFile;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.index.Pins.Pin;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Moves the values that have survived from the log to the heap, those of a list side by side. After that nothing in the
 * index refers to the log before a certain LSN. Most values are trimmed before they are ever moved, which is why new
 * ones are not written to the heap (the generational hypothesis of Lieberman and Hewitt, "A Real-Time Garbage Collector
 * Based on the Lifetimes of Objects", CACM 1983).
 *
 * <p>It goes batch by batch: gather entries under the lock, copy them to free places in the heap and force these
 * outside of it, then point the index there. So no region ever names heap bytes that are not durable, and a batch that
 * fails leaves everything as it was. A list is pinned meanwhile, so neither its entries nor its record go away; those
 * that were trimmed are freed when the pin is gone. Used by the checkpointer only.
 */
final class Tenuring {
    /** Bytes that are moved together, unless a single entry has more. */
    private static final int BATCH_BYTES = 1 << 20;

    private static final int BATCH_ENTRIES = 1 << 14;
    /** Lists that are pinned at a time, about. */
    private static final int PINNED_LISTS = 1 << 12;
    /** Regions that are looked at, or replaced, under one hold of the lock. */
    private static final int SLICE = 512;

    private final StoreState state;
    private final HeapSpace space;
    private final HeapFile heapFile;
    private final LogSegments log;
    private final ArrayDeque<Young> pinned = new ArrayDeque<>();
    private final List<Young> finished = new ArrayList<>();
    private final List<Move> moves = new ArrayList<>();
    /** Of the batch: where its entries lie, then where they are moved to. */
    private final long[] regions = new long[BATCH_ENTRIES];

    private final long[] places = new long[BATCH_ENTRIES];
    private int batchEntries;
    private long batchBytes;
    /** So many entries of the batch have places. */
    private int placed;

    private final ByteBuffer written = ByteBuffer.allocateDirect(StoreFile.CACHED_TOGETHER_BYTES);
    private long writtenAddress;

    Tenuring(StoreState state, HeapSpace space, HeapFile heapFile, LogSegments log) {
        this.state = state;
        this.space = space;
        this.heapFile = heapFile;
        this.log = log;
    }

    /** A force of the heap has failed, which is final for the open store. */
    static final class HeapForceFailed extends IOException {
        private static final long serialVersionUID = 1L;

        HeapForceFailed(IOException problem) {
            super(problem);
        }
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

    /** Entries of a list that a batch has, from index {@code at} of it on. */
    private record Move(int list, long from, int at, int count) {}

    /**
     * Moves all entries before an LSN that are retained or pinned.
     *
     * @param untilLsn up to where the log is forced
     * @throws IOException when the disk or the heap has no room for them
     */
    void tenure(long untilLsn, LogFirst logFirst) throws IOException {
        try {
            long position = 0;
            do {
                position = pinLists(position);
                moveBatches(untilLsn, logFirst);
            } while (position != 0);
            // Readers may have pinned lists that were removed before the walk came to them.
            pinReaders();
            moveBatches(untilLsn, logFirst);
            report(null);
        } catch (IOException refused) {
            report(refused.getMessage());
            throw refused;
        } finally {
            finished.addAll(pinned);
            pinned.clear();
            unpinFinished();
        }
    }

    private void report(@Nullable String failure) {
        state.locked(() -> space.tenured(failure));
    }

    /** Goes on with the walk through all lists until many are pinned. Returns where the next goes on. */
    private long pinLists(long from) {
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

    private void pinReaders() {
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

    private void unpinFinished() {
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

    private void moveBatches(long untilLsn, LogFirst logFirst) throws IOException {
        while (!pinned.isEmpty()) {
            gather(untilLsn);
            move(untilLsn);
            unpinFinished();
            if (batchEntries > 0) {
                logFirst.afterWriting(batchBytes);
            }
        }
    }

    /** Fills the batch. */
    private void gather(long untilLsn) {
        moves.clear();
        batchEntries = 0;
        batchBytes = 0;
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
        return batchEntries < regions.length && batchBytes < BATCH_BYTES;
    }

    /** Adds the next entries of a list to the batch, or finds that there are no more. Returns how much work it was. */
    private int gatherFrom(Young young, long untilLsn) {
        ListIndex index = state.index;
        int list = young.pin.list();
        if (!index.seek(list, young.next, young.cursor, StoreState.SEEK_CHUNKS)) {
            return SLICE;
        }
        int first = batchEntries;
        int copied = (int) Math.min(Math.min(SLICE, regions.length - first), index.next(list) - young.next);
        index.copyRegions(young.cursor, regions, first, copied);
        while (batchEntries < first + copied && hasRoom() && isYoung(regions[batchEntries], untilLsn)) {
            batchBytes += Region.entryBytes(regions[batchEntries]);
            batchEntries++;
        }
        int added = batchEntries - first;
        if (added > 0) {
            moves.add(new Move(list, young.next, first, added));
            young.next += added;
        } else {
            finished.add(pinned.remove());
        }
        return copied + 1;
    }

    private static boolean isYoung(long region, long untilLsn) {
        return Region.isInLog(region) && Region.entryLsn(region, untilLsn) < untilLsn;
    }

    private long entryBytes(int from, int to) {
        long bytes = 0;
        for (int i = from; i < to; i++) {
            bytes += Region.entryBytes(regions[i]);
        }
        return bytes;
    }

    private void move(long untilLsn) throws IOException {
        placed = 0;
        try {
            place(batchEntries);
            copyAll(untilLsn);
            force();
        } catch (IOException | RuntimeException failed) {
            giveBack(placed);
            throw failed;
        }
        swap();
    }

    /**
     * Finds places for the entries from the first that has none on, side by side if there is a hole for all of them, else
     * for each half of them by itself.
     */
    private void place(int to) throws IOException {
        if (placed == to) {
            return;
        }
        boolean single = to - placed == 1;
        long address = allocate(entryBytes(placed, to), single);
        if (address == Heap.NONE && single) {
            throw new IOException("the heap has no hole for the " + Region.entryBytes(regions[placed])
                    + " bytes of an entry that is to move there from the log");
        }
        if (address == Heap.NONE) {
            place((placed + to) >>> 1);
            place(to);
            return;
        }
        for (; placed < to; placed++) {
            places[placed] = Region.pack(address, Region.length(regions[placed]));
            address += Region.entryBytes(regions[placed]);
        }
    }

    /** Allocates a region, if need be in a new segment. */
    private long allocate(long bytes, boolean mayGrow) throws IOException {
        state.lock.lock();
        try {
            long address = space.allocate(bytes);
            if (address != Heap.NONE || !mayGrow || !space.mayGrow()) {
                return address;
            }
        } finally {
            state.lock.unlock();
        }
        if (heapFile.segmentCount() == space.segments()) {
            heapFile.createNext();
        }
        state.lock.lock();
        try {
            space.addSegment();
            return space.allocate(bytes);
        } finally {
            state.lock.unlock();
        }
    }

    private void giveBack(int count) {
        state.lock.lock();
        try {
            for (int i = 0; i < count; i++) {
                space.giveBack(places[i]);
            }
        } finally {
            state.lock.unlock();
        }
    }

    private void copyAll(long untilLsn) throws IOException {
        written.clear();
        for (int i = 0; i < batchEntries; i++) {
            copy(Region.entryLsn(regions[i], untilLsn), Region.address(places[i]), Region.entryBytes(regions[i]));
        }
        writeOut();
    }

    private void copy(long lsn, long address, int bytes) throws IOException {
        if (address != writtenAddress + written.position()) {
            writeOut();
            writtenAddress = address;
        }
        for (int done = 0; done < bytes; ) {
            if (!written.hasRemaining()) {
                writeOut();
            }
            int part = Math.min(bytes - done, written.remaining());
            copyPart(lsn + done, part);
            done += part;
        }
    }

    private void copyPart(long lsn, int bytes) throws IOException {
        try {
            if (!log.copy(lsn, written, bytes)) {
                throw new IllegalStateException(
                        "the index has an entry at LSN " + lsn + ", which is no longer in the log");
            }
        } catch (InternalError unreadable) {
            // This is how the JVM reports that the disk could not read a mapped page.
            throw new IOException(log.describe(log.geometry().segmentOf(lsn)) + " cannot be read", unreadable);
        }
    }

    private void writeOut() throws IOException {
        int bytes = written.flip().remaining();
        if (bytes > 0) {
            heapFile.write(writtenAddress, written);
        }
        writtenAddress += bytes;
        written.clear();
    }

    private void force() throws IOException {
        try {
            heapFile.force();
        } catch (IOException failed) {
            throw new HeapForceFailed(failed);
        }
    }

    /** Points the index to the new places of the batch's entries, those that were trimmed meanwhile too. */
    private void swap() {
        int next = 0;
        while (next < moves.size()) {
            state.lock.lockForSlice();
            try {
                for (int swapped = 0; next < moves.size() && swapped < SLICE; next++) {
                    swap(moves.get(next));
                    swapped += moves.get(next).count();
                }
            } finally {
                state.lock.unlock();
            }
        }
    }

    private void swap(Move move) {
        ListCursor cursor = new ListCursor();
        state.seek(move.list(), move.from(), cursor);
        state.index.tenure(move.list(), cursor, places, move.at(), move.count());
        for (int i = move.at(); i < move.at() + move.count(); i++) {
            space.moved(places[i]);
        }
    }
}
