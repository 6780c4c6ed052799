package io.caravan.engine;

import io.caravan.CorruptStoreException;
import io.caravan.StoreFailedException;
import io.caravan.format.EntryLayout;
import io.caravan.format.Region;
import io.caravan.heap.HeapFile;
import io.caravan.heap.IndexedHeap;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.index.Pins.Pin;
import io.caravan.io.PendingReadError;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evacuates survivors from the log to the heap, placing the survivors of a list next to each other. Afterwards the
 * index does not refer to the log before a given LSN. Most values are trimmed before they would be moved, which is why
 * new values are not written to the heap directly. This is the generational hypothesis (Lieberman and Hewitt, "A
 * Real-Time Garbage Collector Based on the Lifetimes of Objects", CACM 1983).
 *
 * <p>It works in batches. It collects entries under the lock, copies them to free heap places and fsyncs the heap
 * without the lock, and then points the index to the new places. The index therefore never refers to heap bytes that
 * are not durable, and a failed batch changes nothing. A list stays pinned from its discovery until its last batch is
 * done.
 *
 * <p>Each batch waits for the flush in progress, because a disk that is busy with the heap delays the log, and thus
 * every writer. Under a sustained load, as many bytes are written to the heap as to the log. Otherwise the log would
 * grow faster than the checkpoint frees it. Used by the checkpointer only; see docs/internals/checkpoints.md.
 */
final class LogEvacuation {
    /** Maximum number of entries in a batch, before it is scaled. */
    private static final int BATCH_ENTRIES = 1 << 14;

    /** Maximum number of bytes in a batch, before it is scaled; the last entry of a batch may exceed this limit. */
    private static final int BATCH_BYTES = 1 << 20;
    /** Approximate number of lists pinned at a time, before it is scaled. */
    private static final int PINNED_LISTS = 1 << 12;
    /** Maximum factor by which the three limits above are scaled while the log is idle. */
    private static final int MAX_SCALE = 4;
    /** The longest fsync of a batch after which the next batch may be larger. Writes may have to wait twice as long. */
    private static final long SHORT_FSYNC_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    /** Number of regions visited or replaced each time the lock is held. */
    private static final int SLICE = 512;
    /** The lead that log writes may have over heap writes, in minimum distances between checkpoints. */
    private static final int BURST = 4;

    private static final Logger LOG = LoggerFactory.getLogger(LogEvacuation.class);

    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;
    private final Provisioner provisioner;
    private final Flusher flusher;
    private final HeapFile heapFile;
    private final EntryMove entries;

    private final ArrayDeque<Young> pinned = new ArrayDeque<>();
    private final ArrayDeque<Young> finished = new ArrayDeque<>();
    /** Number of lists that remain to be taken from the queue of lists with entries in the log. */
    private long youngLeft;

    /** The entries of the batch, list by list, and their regions in the log and in the heap. */
    private final List<Run> runs = new ArrayList<>();

    private long[] regions = new long[BATCH_ENTRIES];
    private long[] places = new long[BATCH_ENTRIES];
    /** The factor by which the limits on a batch are scaled. */
    private int scale = 1;
    /** The end of the committed log when the last batch ended. */
    private long lastPosition;

    private int count;
    private long batchBytes;
    /** Number of entries of the batch that have a place in the heap. */
    private int placed;

    private @Nullable Unreadable unreadable;
    /** The duration of the last batch's fsync. */
    private long forceNanos;

    private long startLsn;
    private long heapBytes;

    LogEvacuation(StoreState state, CommitQueue queue, HeapSpace space, Provisioner provisioner, Flusher flusher) {
        this.state = state;
        this.queue = queue;
        this.space = space;
        this.provisioner = provisioner;
        this.flusher = flusher;
        this.heapFile = state.heapFile;
        this.entries = new EntryMove(heapFile, state.log);
    }

    /**
     * Thrown if the disk cannot read an entry in the log. All readable entries have moved to the heap, except later
     * entries of the same list. The unreadable entry stays in the log, because it may become readable again, for
     * example if a cable was faulty.
     */
    static final class Unreadable extends IOException {
        private static final long serialVersionUID = 1L;

        Unreadable(CorruptStoreException entry, InternalError problem) {
            super(entry.getMessage(), problem);
        }
    }

    /** A pinned list with entries in the log, and the sequence of the next entry to visit. */
    private static final class Young {
        final Pin pin;
        final ListCursor cursor = new ListCursor();
        long next;
        /** Sequence of the list's first unreadable entry. */
        long unreadable = Long.MAX_VALUE;

        Young(Pin pin) {
            this.pin = pin;
            this.next = pin.from();
        }
    }

    /** A run of {@code count} consecutive entries of a list; the run starts at index {@code at} of the batch. */
    private record Run(Young young, long id, long creationLsn, long from, int at, int count) {}

    /**
     * Moves all retained or pinned entries before an LSN to the heap.
     *
     * @param untilLsn the position up to which the log is fsynced
     * @throws Unreadable if some entries in the log are unreadable
     * @throws StoreFailedException if the fsync of the heap fails
     * @throws IOException if the disk or the heap has no space for the entries
     */
    void tenure(long untilLsn) throws IOException {
        startLsn = state.committed.position();
        lastPosition = startLsn;
        heapBytes = 0;
        unreadable = null;
        try {
            youngLeft = state.locked(state.index::youngLists);
            while (youngLeft > 0) {
                pinLists();
                moveBatches(untilLsn);
            }
            pinReaders();
            moveBatches(untilLsn);
            state.locked(() -> space.tenured(null));
        } catch (IOException rejected) {
            state.locked(() -> space.tenured(rejected.getMessage()));
            throw rejected;
        } finally {
            finished.addAll(pinned);
            pinned.clear();
            unpinFinished();
            runs.clear();
            scaleTo(1);
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
                yieldToLog();
                scaleNextBatch();
            }
        }
    }

    /** Takes lists from the queue, and pins those with entries in the log. */
    private void pinLists() {
        state.inSlices(() -> {
            for (int i = 0; i < SLICE && youngLeft > 0; i++) {
                youngLeft--;
                int list = state.index.takeYoung();
                if (list != ListIndex.NONE && !pinIfYoung(list)) {
                    state.index.putYoung(list);
                }
            }
            return youngLeft > 0 && pinned.size() < scale * PINNED_LISTS;
        });
    }

    /**
     * Pins the lists that readers have pinned. Some of these may have been removed from the index, and are then not in
     * the queue of lists.
     */
    private void pinReaders() {
        int next = 0;
        do {
            int list = next;
            next = state.slice(() -> state.index.visitPinned(list, SLICE, this::pinIfYoung));
        } while (next != ListIndex.NONE);
    }

    /** Pins the list if it has entries to move. Returns whether it was pinned. */
    private boolean pinIfYoung(int list) {
        ListIndex index = state.index;
        long from = Math.max(index.tenured(list), index.firstKept(list));
        return from < index.next(list) && pinned.add(new Young(index.pin(list, from)));
    }

    private void unpinFinished() {
        state.inSlices(() -> {
            for (int i = 0; i < SLICE && !finished.isEmpty(); i++) {
                Young young = finished.remove();
                state.index.putYoung(young.pin.list());
                space.unpin(young.pin);
            }
            return !finished.isEmpty();
        });
    }

    /** Fills the batch with the next entries before an LSN. */
    private void gather(long untilLsn) {
        runs.clear();
        count = 0;
        batchBytes = 0;
        state.inSlices(() -> {
            int visited = 0;
            while (visited < SLICE && !pinned.isEmpty() && hasRoom()) {
                visited += gatherFrom(pinned.element(), untilLsn);
            }
            return !pinned.isEmpty() && hasRoom();
        });
    }

    private boolean hasRoom() {
        return count < regions.length && batchBytes < (long) scale * BATCH_BYTES;
    }

    /** Adds the next entries of a list to the batch, if any remain. Returns the cost of the call, in regions. */
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
            runs.add(new Run(young, index.id(list), index.creationLsn(list), young.next, first, added));
            young.next += added;
        }
        // Entries appended from now on are not before the LSN.
        if (added == 0 || young.next == index.next(list)) {
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
        // A batch without an fsync says nothing about the disk.
        forceNanos = Long.MAX_VALUE;
        try {
            place(count);
            damaged = copy(untilLsn);
            force();
        } catch (Unreadable found) {
            freePlaces();
            gatherAgain();
            unreadable = unreadable == null ? found : unreadable;
            return;
        } catch (IOException | RuntimeException failed) {
            freePlaces();
            throw failed;
        }
        swap();
        // Not reported earlier, because a failed batch is copied again.
        for (CorruptStoreException entry : damaged) {
            LOG.error("{}: a value in the log is damaged, and can no longer be read", state.name(), entry);
        }
        state.locked(() -> state.counters.failures += damaged.size());
    }

    /** Prepares to collect the batch again, without the unreadable entry and the later entries of its list. */
    private void gatherAgain() {
        for (int i = runs.size() - 1; i >= 0; i--) {
            Young young = runs.get(i).young();
            young.next = runs.get(i).from();
            if (finished.removeLastOccurrence(young)) {
                pinned.addFirst(young);
            }
        }
    }

    /**
     * Allocates places for the entries that have none yet: next to each other if a hole is large enough for all of
     * them, otherwise each half separately.
     */
    private void place(int to) throws IOException {
        if (placed == to) {
            return;
        }
        boolean single = to - placed == 1;
        long bytes = bytesOfUnplaced(to);
        long address = state.locked(() -> space.allocate(bytes));
        if (address == IndexedHeap.NONE && single) {
            address = grow(bytes);
        }
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

    private long bytesOfUnplaced(int to) {
        long bytes = 0;
        for (int i = placed; i < to; i++) {
            bytes += Region.entryBytes(regions[i]);
        }
        return bytes;
    }

    /**
     * Allocates disk space for more of the existing segments, or for a new segment if that is allowed, until the region
     * fits.
     */
    private long grow(long bytes) throws IOException {
        IOException noSpace = null;
        for (int segment = 0; segment < space.segments(); segment++) {
            try {
                long address = fill(segment, bytes);
                if (address != IndexedHeap.NONE) {
                    return address;
                }
            } catch (IOException failed) {
                // The end of another segment may have disk space from before the store was opened.
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

    /** Allocates disk space for more of a segment until the region fits or the segment is full. */
    private long fill(int segment, long bytes) throws IOException {
        long address = IndexedHeap.NONE;
        while (address == IndexedHeap.NONE && space.unfilled(segment) > 0) {
            int growth = Math.min(heapFile.geometry().growthBytes(), space.unfilled(segment));
            long lacking = provisioner.lackingForHeap(growth);
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

    private void freePlaces() {
        state.inSlices(() -> {
            for (int i = 0; i < SLICE && placed > 0; i++) {
                space.freeUnused(places[--placed]);
            }
            return placed > 0;
        });
    }

    private List<CorruptStoreException> copy(long untilLsn) throws IOException {
        entries.start();
        for (Run run : runs) {
            for (int i = 0; i < run.count(); i++) {
                if (i % LogSegments.LOADED_TOGETHER == 0) {
                    int loaded = Math.min(LogSegments.LOADED_TOGETHER, run.count() - i);
                    state.log.load(regions, run.at() + i, loaded, untilLsn);
                }
                long region = regions[run.at() + i];
                try {
                    entries.copy(
                            Region.entryLsn(region, untilLsn),
                            Region.length(region),
                            Region.address(places[run.at() + i]),
                            run.id(),
                            run.creationLsn(),
                            run.from() + i);
                } catch (Unreadable found) {
                    run.young().unreadable = run.from() + i;
                    throw found;
                }
            }
        }
        return entries.finish();
    }

    /** Fsyncs the heap. A failure is final for the open store. */
    private void force() {
        try {
            long startNanos = state.nowNanos();
            heapFile.force();
            forceNanos = state.nowNanos() - startNanos;
        } catch (IOException failed) {
            flusher.fail(failed);
            throw Objects.requireNonNull(state.failure());
        }
    }

    /** Points the index to the new places of the batch's entries, including those trimmed in the meantime. */
    private void swap() {
        Iterator<Run> left = runs.iterator();
        state.inSlices(() -> {
            int swapped = 0;
            while (left.hasNext() && swapped < SLICE) {
                Run run = left.next();
                swap(run);
                swapped += run.count();
            }
            return left.hasNext();
        });
    }

    private void swap(Run run) {
        ListCursor cursor = new ListCursor();
        state.seek(run.young().pin.list(), run.from(), cursor);
        state.index.tenure(run.young().pin.list(), cursor, places, run.at(), run.count());
        for (int i = run.at(); i < run.at() + run.count(); i++) {
            space.moved(places[i]);
        }
    }

    /** Waits for the flush in progress, unless log writes are ahead of heap writes by more than a burst. */
    private void yieldToLog() {
        heapBytes += batchBytes;
        long logBytes = state.committed.position() - startLsn;
        if ((logBytes - heapBytes) / BURST <= state.config.checkpointFloorBytes()) {
            state.committed.await(state.locked(queue::tail));
        }
    }

    private void scaleNextBatch() {
        long position = state.committed.position();
        if (position != lastPosition || forceNanos > 2 * SHORT_FSYNC_NANOS) {
            scaleTo(1);
        } else if (forceNanos <= SHORT_FSYNC_NANOS) {
            scaleTo(Math.min(2 * scale, MAX_SCALE));
        }
        lastPosition = position;
    }

    private void scaleTo(int factor) {
        if (factor != scale) {
            scale = factor;
            regions = new long[scale * BATCH_ENTRIES];
            places = new long[scale * BATCH_ENTRIES];
        }
    }

    /**
     * Copies entries from the mapped log to their places in the heap, through a buffer, and checks each entry. A
     * damaged entry is copied unchanged, so that it does not block other entries; it stays unreadable. The report names
     * the entry's place in the log, because later errors name its place in the heap.
     */
    static final class EntryMove {
        private static final String DAMAGED =
                "the entry's bytes are not those that were written; it moves to the heap unchanged";
        private static final String UNREADABLE =
                "cannot be read, so the log is kept from its last checkpoint on; check the disk, and trim or delete"
                        + " what cannot be read to have the log shortened";

        private final HeapFile heapFile;
        private final LogSegments log;
        private final List<CorruptStoreException> damaged = new ArrayList<>();
        private final CRC32C crc = new CRC32C();
        private final ByteBuffer buffer =
                ByteBuffer.allocateDirect(StoreFile.CACHED_TOGETHER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        /** The heap address of the buffer's first byte. */
        private long bufferAddress;

        EntryMove(HeapFile heapFile, LogSegments log) {
            this.heapFile = heapFile;
            this.log = log;
        }

        void start() {
            buffer.clear();
            damaged.clear();
        }

        /**
         * Copies an entry from the log to its place in the heap.
         *
         * @throws IOException if the disk cannot read the entry, or has no space for it
         */
        void copy(long lsn, int length, long address, long id, long creationLsn, long sequence) throws IOException {
            if (address != bufferAddress + buffer.position()) {
                writeOut();
                bufferAddress = address;
            }
            try {
                if (!copyAndCheck(lsn, length, id, creationLsn, sequence)) {
                    PendingReadError.raise();
                    damaged.add(log.corrupt(lsn, id, sequence, DAMAGED));
                }
            } catch (InternalError unreadable) {
                // The JVM throws this if the disk cannot read a mapped page.
                throw new Unreadable(log.corrupt(lsn, id, sequence, UNREADABLE), unreadable);
            }
        }

        private boolean copyAndCheck(long lsn, int length, long id, long creationLsn, long sequence)
                throws IOException {
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
                if (!log.copy(lsn + done, buffer, part)) {
                    throw new IllegalStateException(
                            "the index has an entry at LSN " + (lsn + done) + ", which is no longer in the log");
                }
                if (done == 0) {
                    // Entries and the buffer are multiples of 8 bytes long, so these 8 bytes are contiguous.
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
                    && checksum == EntryLayout.checksum((int) crc.getValue(), length, id, creationLsn, sequence);
        }

        private void writeOut() throws IOException {
            int bytes = buffer.flip().remaining();
            if (bytes > 0) {
                heapFile.write(bufferAddress, buffer);
            }
            bufferAddress += bytes;
            buffer.clear();
        }

        /** Writes the remaining bytes of the buffer. Returns the damaged entries of the batch. */
        List<CorruptStoreException> finish() throws IOException {
            writeOut();
            return damaged;
        }
    }
}
