package io.caravan.engine;

import io.caravan.CorruptStoreException;
import io.caravan.format.Region;
import io.caravan.heap.Heap;
import io.caravan.heap.HeapFile;
import io.caravan.index.ListCursor;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.List;
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
 * fails leaves everything as it was. A list is pinned meanwhile, so neither its entries nor its record go away; those
 * that were trimmed are freed when the pin is gone. Used by the checkpointer only.
 */
final class Tenuring {
    /** Regions that are replaced under one hold of the lock. */
    private static final int SLICE = 512;

    private static final Logger LOG = LoggerFactory.getLogger(Tenuring.class);

    private final StoreState state;
    private final HeapSpace space;
    private final HeapFile heapFile;
    private final Survivors batch;
    private final EntryMove entries;
    /** Where the batch's entries are moved to. */
    private final long[] places = new long[Survivors.BATCH_ENTRIES];
    /** So many of them have places. */
    private int placed;

    Tenuring(StoreState state, HeapSpace space, HeapFile heapFile, LogSegments log) {
        this.state = state;
        this.space = space;
        this.heapFile = heapFile;
        this.batch = new Survivors(state, space);
        this.entries = new EntryMove(heapFile, log);
    }

    /** A force of the log or the heap has failed, which is final for the open store. */
    static final class ForceFailed extends IOException {
        private static final long serialVersionUID = 1L;

        ForceFailed(IOException problem) {
            super(problem);
        }
    }

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
                position = batch.pinLists(position);
                moveBatches(untilLsn, logFirst);
            } while (position != 0);
            batch.pinReaders();
            moveBatches(untilLsn, logFirst);
            report(null);
        } catch (IOException refused) {
            report(refused.getMessage());
            throw refused;
        } finally {
            batch.unpinAll();
        }
    }

    private void report(@Nullable String failure) {
        state.locked(() -> space.tenured(failure));
    }

    private void moveBatches(long untilLsn, LogFirst logFirst) throws IOException {
        while (!batch.isEmpty()) {
            batch.gather(untilLsn);
            move(untilLsn);
            batch.unpinFinished();
            if (batch.count() > 0) {
                logFirst.afterWriting(batch.bytes());
            }
        }
    }

    private void move(long untilLsn) throws IOException {
        List<CorruptStoreException> damaged;
        placed = 0;
        try {
            place(batch.count());
            damaged = copy(untilLsn);
            force();
        } catch (IOException | RuntimeException failed) {
            giveBack(placed);
            throw failed;
        }
        swap();
        damaged.forEach(this::tell);
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
        if (address == Heap.NONE && single) {
            throw new IOException("the heap has no hole for the " + Region.entryBytes(batch.region(placed))
                    + " bytes of an entry that is to move there from the log");
        }
        if (address == Heap.NONE) {
            place((placed + to) >>> 1);
            place(to);
            return;
        }
        for (; placed < to; placed++) {
            places[placed] = Region.pack(address, Region.length(batch.region(placed)));
            address += Region.entryBytes(batch.region(placed));
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

    private long entryBytes(int from, int to) {
        long bytes = 0;
        for (int i = from; i < to; i++) {
            bytes += Region.entryBytes(batch.region(i));
        }
        return bytes;
    }

    private List<CorruptStoreException> copy(long untilLsn) throws IOException {
        entries.start();
        for (Survivors.Run run : batch.runs()) {
            for (int i = 0; i < run.count(); i++) {
                long region = batch.region(run.at() + i);
                entries.copy(
                        Region.entryLsn(region, untilLsn),
                        Region.length(region),
                        Region.address(places[run.at() + i]),
                        run.id(),
                        run.birth(),
                        run.from() + i);
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
        List<Survivors.Run> runs = batch.runs();
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

    private void swap(Survivors.Run run) {
        ListCursor cursor = new ListCursor();
        state.seek(run.list(), run.from(), cursor);
        state.index.tenure(run.list(), cursor, places, run.at(), run.count());
        for (int i = run.at(); i < run.at() + run.count(); i++) {
            space.moved(places[i]);
        }
    }
}
