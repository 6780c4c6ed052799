package io.caravan.engine;

import io.caravan.CorruptStoreException;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import io.caravan.heap.HeapFile;
import io.caravan.heap.IndexedHeap;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.index.Pins.Pin;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves the values that have survived from the log to the heap, those of a list side by side. After that nothing in the
 * index refers to the log before a certain LSN. Most values are trimmed before they are ever moved, which is why new
 * ones are not written to the heap (the generational hypothesis of Lieberman and Hewitt, "A Real-Time Garbage Collector
 * Based on the Lifetimes of Objects", CACM 1983).
 *
 * <p>It goes batch by batch: gather entries under the lock, copy them to free places in the heap and force these
 * outside of it, then point the index there. So no region ever names heap bytes that are not durable, and a batch that
 * fails leaves everything as it was. A list is pinned from when it is found until its last batch is done with, so
 * neither its entries nor its record go away meanwhile; those that were trimmed are freed when the pin is gone.
 *
 * <p>The log goes first: a disk that has much of the heap to write keeps the log waiting, and with it every writer. So
 * the flush under way is waited for after each batch. A burst has the disk nearly to itself; under a lasting load the
 * heap gets as many bytes written as the log does, or the log would outgrow what the checkpoint makes unnecessary.
 *
 * <p>Used by the checkpointer only.
 */
final class Tenuring {
    /** The most entries that are moved together. */
    private static final int BATCH_ENTRIES = 1 << 14;

    /** The most bytes that are, but for the last entry's. */
    private static final int BATCH_BYTES = 1 << 20;
    /** Lists that are pinned at a time, about. */
    private static final int PINNED_LISTS = 1 << 12;
    /** Regions that are looked at, or replaced, under one hold of the lock. */
    private static final int SLICE = 512;
    /** By how many of the least distances between checkpoints the log may be ahead of the heap. */
    private static final int BURST = 4;

    private static final Logger LOG = LoggerFactory.getLogger(Tenuring.class);

    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;
    private final DiskReserve reserve;
    private final HeapFile heapFile;
    private final EntryMove entries;

    private final ArrayDeque<Young> pinned = new ArrayDeque<>();
    private final List<Young> finished = new ArrayList<>();

    /** The batch: entries list by list, where each lies in the log, and where it moves to. */
    private final List<Run> runs = new ArrayList<>();

    private final long[] regions = new long[BATCH_ENTRIES];
    private final long[] places = new long[BATCH_ENTRIES];
    private int count;
    private long batchBytes;
    /** So many of the entries have places. */
    private int placed;

    private @Nullable Unreadable unreadable;
    private long startLsn;
    private long heapBytes;

    Tenuring(StoreState state, CommitQueue queue, HeapSpace space, DiskReserve reserve) {
        this.state = state;
        this.queue = queue;
        this.space = space;
        this.reserve = reserve;
        this.heapFile = state.heapFile;
        this.entries = new EntryMove(heapFile, state.log);
    }

    /** A force of the heap has failed, which is final for the open store. */
    static final class ForceFailed extends IOException {
        private static final long serialVersionUID = 1L;

        ForceFailed(IOException problem) {
            super(problem);
        }
    }

    /**
     * The disk cannot read entries in the log. Everything else has moved to the heap. The entry may be readable again, as
     * after a fault of a cable, and so it stays in the log, as do the later ones of its list.
     */
    static final class Unreadable extends IOException {
        private static final long serialVersionUID = 1L;

        Unreadable(CorruptStoreException entry, InternalError problem) {
            super(entry.getMessage(), problem);
        }
    }

    /** A pinned list, and how far its entries have been looked at. */
    private static final class Young {
        final Pin pin;
        final ListCursor cursor = new ListCursor();
        long next;
        /** Sequence of the first entry that cannot be read. */
        long unreadable = Long.MAX_VALUE;

        Young(Pin pin) {
            this.pin = pin;
            this.next = pin.from();
        }
    }

    /** Entries of a list that the batch has, {@code count} of them from index {@code at} on. */
    private record Run(Young young, long id, long birth, long from, int at, int count) {}

    /**
     * Moves all entries before an LSN that are retained or pinned.
     *
     * @param untilLsn up to where the log is forced
     * @throws Unreadable when some cannot be read from the log, and all others have moved
     * @throws IOException when the disk or the heap has no room for them
     */
    void tenure(long untilLsn) throws IOException {
        startLsn = state.committed.position();
        heapBytes = 0;
        unreadable = null;
        try {
            long left = state.locked(state.index::youngLists);
            while (left > 0) {
                left = pinLists(left);
                moveBatches(untilLsn);
            }
            pinReaders();
            moveBatches(untilLsn);
            state.locked(() -> space.tenured(null));
        } catch (IOException refused) {
            state.locked(() -> space.tenured(refused.getMessage()));
            throw refused;
        } finally {
            unpinAll();
        }
        if (unreadable != null) {
            throw unreadable;
        }
    }

    private void moveBatches(long untilLsn) throws IOException {
        while (!pinned.isEmpty()) {
            gather(untilLsn);
            move(untilLsn);
            unpinFinished();
            if (count > 0) {
                letTheLogGoFirst();
            }
        }
    }

    /** Pins lists that have entries in the log, until there are many. Returns how many are left of so many. */
    private long pinLists(long most) {
        long left = most;
        while (left > 0 && pinned.size() < PINNED_LISTS) {
            int some = (int) Math.min(left, SLICE);
            state.slice(() -> {
                for (int i = 0; i < some; i++) {
                    pinNext();
                }
            });
            left -= some;
        }
        return left;
    }

    private void pinNext() {
        int list = state.index.takeYoung();
        if (list != ListIndex.NONE && !pinIfYoung(list)) {
            state.index.putYoung(list);
        }
    }

    /** Pins the lists that readers have pinned: some may be removed, which are not among those taken. */
    private void pinReaders() {
        int next = 0;
        do {
            int list = next;
            next = state.slice(() -> state.index.visitPinned(list, SLICE, this::pinIfYoung));
        } while (next != ListIndex.NONE);
    }

    /** Whether entries of the list are to be moved, and it is pinned for that. */
    private boolean pinIfYoung(int list) {
        ListIndex index = state.index;
        long from = Math.max(index.tenured(list), index.firstKept(list));
        return from < index.next(list) && pinned.add(new Young(index.pin(list, from)));
    }

    /** Lets go of the lists that are done with. */
    private void unpinFinished() {
        for (int from = 0; from < finished.size(); from += SLICE) {
            List<Young> some = finished.subList(from, Math.min(from + SLICE, finished.size()));
            state.slice(() -> some.forEach(young -> {
                state.index.putYoung(young.pin.list());
                space.unpin(young.pin);
            }));
        }
        finished.clear();
    }

    /** Lets go of all lists. */
    private void unpinAll() {
        finished.addAll(pinned);
        pinned.clear();
        unpinFinished();
    }

    /** Fills the batch with the next entries before an LSN. */
    private void gather(long untilLsn) {
        runs.clear();
        count = 0;
        batchBytes = 0;
        while (!pinned.isEmpty() && hasRoom()) {
            state.slice(() -> {
                int looked = 0;
                while (looked < SLICE && !pinned.isEmpty() && hasRoom()) {
                    looked += gatherFrom(pinned.element(), untilLsn);
                }
            });
        }
    }

    private boolean hasRoom() {
        return count < regions.length && batchBytes < BATCH_BYTES;
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
        while (count < first + copied
                && hasRoom()
                && isYoung(regions[count], untilLsn)
                && young.next + count - first < young.unreadable) {
            batchBytes += Region.entryBytes(regions[count]);
            count++;
        }
        int added = count - first;
        if (added > 0) {
            runs.add(new Run(young, index.id(list), index.birth(list), young.next, first, added));
            young.next += added;
        } else {
            finished.add(pinned.remove());
        }
        return copied + 1;
    }

    private static boolean isYoung(long region, long untilLsn) {
        return Region.isInLog(region) && Region.entryLsn(region, untilLsn) < untilLsn;
    }

    private void move(long untilLsn) throws IOException {
        List<CorruptStoreException> damaged;
        placed = 0;
        try {
            place(count);
            damaged = copy(untilLsn);
            force();
        } catch (Unreadable found) {
            giveBack();
            gatherAgain();
            unreadable = unreadable == null ? found : unreadable;
            return;
        } catch (IOException | RuntimeException failed) {
            giveBack();
            throw failed;
        }
        swap();
        damaged.forEach(this::tell);
    }

    /** Has the entries of the batch gathered once more, but for the one that cannot be read and those behind it. */
    private void gatherAgain() {
        for (int i = runs.size() - 1; i >= 0; i--) {
            Young young = runs.get(i).young();
            young.next = runs.get(i).from();
            if (finished.remove(young)) {
                pinned.addFirst(young);
            }
        }
    }

    /** Once: a batch that fails is copied again, and its damage found again. */
    private void tell(CorruptStoreException damaged) {
        LOG.error("{}: a value has rotted in the log, and can no longer be read", state.name(), damaged);
        state.locked(() -> state.counters.failures++);
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
        if (address == IndexedHeap.NONE && single) {
            throw new IOException("the heap has no hole for the " + Region.entryBytes(regions[placed])
                    + " bytes of an entry that is to move there from the log");
        }
        if (address == IndexedHeap.NONE) {
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
        long address = state.locked(() -> space.allocate(bytes));
        return address == IndexedHeap.NONE && mayGrow ? grow(bytes) : address;
    }

    /** Allocates disk space for more of the segments, or for a new one, until there is a place. */
    private long grow(long bytes) throws IOException {
        IOException noSpace = null;
        for (int segment = 0; segment < space.segments(); segment++) {
            try {
                long address = fill(segment, bytes);
                if (address != IndexedHeap.NONE) {
                    return address;
                }
            } catch (IOException failed) {
                // The end of another segment may have its disk space from before the store was opened.
                noSpace = failed;
            }
        }
        if (noSpace != null) {
            throw noSpace;
        }
        if (!state.locked(space::mayGrow)) {
            return IndexedHeap.NONE;
        }
        boolean isNew = heapFile.segmentCount() == space.segments();
        if (isNew) {
            heapFile.createNext();
        }
        int added = space.segments();
        long address = state.locked(() -> {
            space.addSegment(isNew);
            return space.allocate(bytes);
        });
        return address == IndexedHeap.NONE ? fill(added, bytes) : address;
    }

    /** Allocates disk space for more of a segment until it has a place, or is full. */
    private long fill(int segment, long bytes) throws IOException {
        long address = IndexedHeap.NONE;
        while (address == IndexedHeap.NONE && space.unfilled(segment) > 0) {
            int growth = Math.min(heapFile.geometry().growthBytes(), space.unfilled(segment));
            long lacking = reserve.lackingForHeap(growth);
            if (lacking > 0) {
                throw new IOException("No space left on device for them and the checkpoint's file: " + lacking
                        + " bytes are lacking");
            }
            heapFile.fill(space.unfilledAddress(segment), growth);
            address = state.locked(() -> {
                space.filled(segment, growth);
                return space.allocate(bytes);
            });
        }
        return address;
    }

    private void giveBack() {
        state.locked(() -> {
            for (int i = 0; i < placed; i++) {
                space.giveBack(places[i]);
            }
        });
    }

    private long entryBytes(int from, int to) {
        long bytes = 0;
        for (int i = from; i < to; i++) {
            bytes += Region.entryBytes(regions[i]);
        }
        return bytes;
    }

    private List<CorruptStoreException> copy(long untilLsn) throws IOException {
        entries.start();
        for (Run run : runs) {
            for (int i = 0; i < run.count(); i++) {
                long region = regions[run.at() + i];
                try {
                    entries.copy(
                            Region.entryLsn(region, untilLsn),
                            Region.length(region),
                            Region.address(places[run.at() + i]),
                            run.id(),
                            run.birth(),
                            run.from() + i);
                } catch (Unreadable found) {
                    run.young().unreadable = run.from() + i;
                    throw found;
                }
            }
        }
        return entries.finish();
    }

    private void force() throws IOException {
        try {
            heapFile.force();
        } catch (IOException failed) {
            throw new ForceFailed(failed);
        }
    }

    /** Points the index to the new places of the batch's entries, those that were trimmed meanwhile too. */
    private void swap() {
        int next = 0;
        while (next < runs.size()) {
            state.lock.lockForSlice();
            try {
                for (int swapped = 0; next < runs.size() && swapped < SLICE; next++) {
                    swap(runs.get(next));
                    swapped += runs.get(next).count();
                }
            } finally {
                state.lock.unlock();
            }
        }
    }

    private void swap(Run run) {
        ListCursor cursor = new ListCursor();
        state.seek(run.young().pin.list(), run.from(), cursor);
        state.index.tenure(run.young().pin.list(), cursor, places, run.at(), run.count());
        for (int i = run.at(); i < run.at() + run.count(); i++) {
            space.moved(places[i]);
        }
    }

    /** Waits for the flush that is under way, if there is one, unless the log is ahead by more than a burst. */
    private void letTheLogGoFirst() {
        heapBytes += batchBytes;
        long logBytes = state.committed.position() - startLsn;
        if ((logBytes - heapBytes) / BURST <= state.config.checkpointFloorBytes()) {
            state.committed.await(state.locked(queue::tail));
        }
    }

    /**
     * Copies entries from the mapped log to their places in the heap, through a buffer, and checks each on its way. One whose
     * bytes are not those that were written is copied as it is, so that nothing else has to wait for it: it stays as
     * unreadable as it was, and is noted with where it was, because the heap would be blamed for it from now on.
     */
    static final class EntryMove {
        private final HeapFile heapFile;
        private final LogSegments log;
        private final List<CorruptStoreException> damaged = new ArrayList<>();
        private final CRC32C crc = new CRC32C();
        private final ByteBuffer buffer =
                ByteBuffer.allocateDirect(StoreFile.CACHED_TOGETHER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        /** Where in the heap the buffer's first byte goes. */
        private long bufferAddress;

        EntryMove(HeapFile heapFile, LogSegments log) {
            this.heapFile = heapFile;
            this.log = log;
        }

        /** Starts a batch. */
        void start() {
            buffer.clear();
            damaged.clear();
        }

        /**
         * Copies an entry.
         *
         * @throws IOException when the disk cannot read it, or has no space for it
         */
        void copy(long lsn, int length, long address, long id, long birth, long sequence) throws IOException {
            if (address != bufferAddress + buffer.position()) {
                writeOut();
                bufferAddress = address;
            }
            boolean whole;
            try {
                whole = copyAndCheck(lsn, length, id, birth, sequence);
            } catch (InternalError unreadable) {
                // This is how the JVM reports that the disk could not read a mapped page.
                throw new Unreadable(
                        corrupt(
                                lsn,
                                id,
                                sequence,
                                "cannot be read, so the log is kept from its last checkpoint on; check the disk, and"
                                        + " trim or delete what cannot be read to have the log shortened"),
                        unreadable);
            }
            if (!whole) {
                damaged.add(corrupt(
                        lsn,
                        id,
                        sequence,
                        "the entry's bytes are not those that were written; it moves to the heap as it is"));
            }
        }

        private CorruptStoreException corrupt(long lsn, long id, long sequence, String problem) {
            return new CorruptStoreException(
                    log.describe(log.geometry().segmentOf(lsn)), log.geometry().offsetOf(lsn), id, sequence, problem);
        }

        private boolean copyAndCheck(long lsn, int length, long id, long birth, long sequence) throws IOException {
            crc.reset();
            int bytes = EntryLayout.entryBytes(length);
            int valueEnd = EntryLayout.VALUE + length;
            int checksum = 0;
            int foundLength = 0;
            for (int done = 0; done < bytes; ) {
                if (!buffer.hasRemaining()) {
                    writeOut();
                }
                int at = buffer.position();
                int part = Math.min(bytes - done, buffer.remaining());
                copyPart(lsn + done, part);
                if (done == 0) {
                    // Entries take multiples of 8 bytes, as the buffer does, so these 8 are together.
                    checksum = buffer.getInt(at + EntryLayout.CHECKSUM);
                    foundLength = buffer.getInt(at + EntryLayout.LENGTH);
                }
                int from = Math.max(done, EntryLayout.VALUE);
                int to = Math.min(done + part, valueEnd);
                if (from < to) {
                    crc.update(buffer.duplicate().limit(at + to - done).position(at + from - done));
                }
                done += part;
            }
            return foundLength == length
                    && checksum == EntryLayout.checksum((int) crc.getValue(), length, id, birth, sequence);
        }

        private void copyPart(long lsn, int bytes) {
            if (!log.copy(lsn, buffer, bytes)) {
                throw new IllegalStateException(
                        "the index has an entry at LSN " + lsn + ", which is no longer in the log");
            }
        }

        private void writeOut() throws IOException {
            int bytes = buffer.flip().remaining();
            if (bytes > 0) {
                heapFile.write(bufferAddress, buffer);
            }
            bufferAddress += bytes;
            buffer.clear();
        }

        /** Writes what is still in the buffer; returns the damaged entries of the batch. */
        List<CorruptStoreException> finish() throws IOException {
            writeOut();
            return damaged;
        }
    }
}
