package io.caravan.engine;

import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.index.ListCursor;
import io.caravan.index.PartitionSnapshot;
import io.caravan.index.PartitionSnapshot.Kept;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Writes one partition of the index as it was at one moment: copies a {@link PartitionSnapshot} slice by slice under
 * the lock, and writes each slice outside it.
 */
final class PartitionCapture {
    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;
    private final PartitionSnapshot snapshot;
    private final long[] slice = new long[PartitionSnapshot.SLICE_LONGS];

    PartitionCapture(StoreState state, CommitQueue queue, HeapSpace space) {
        this.state = state;
        this.queue = queue;
        this.space = space;
        this.snapshot = state.index.snapshot();
    }

    /** Captures and writes a partition; returns the LSN of the capture. */
    long capture(int partition, CheckpointWriter writer) throws IOException {
        long captureLsn = start(partition);
        try {
            writer.startPartition(partition, captureLsn);
            boolean more = true;
            while (more) {
                more = writeSlice(writer);
            }
            writer.endPartition();
            return captureLsn;
        } finally {
            dropKept();
        }
    }

    private long start(int partition) {
        state.lock.lock();
        try {
            long lsn = queue.nextLsn();
            snapshot.start(partition, lsn);
            return lsn;
        } finally {
            state.lock.unlock();
        }
    }

    /** Writes the next lists, and then those that are kept. Returns whether there are more. */
    private boolean writeSlice(CheckpointWriter writer) throws IOException {
        int longs;
        int kept;
        boolean more;
        state.lock.lockForSlice();
        try {
            longs = snapshot.copySlice(slice);
            kept = snapshot.keptCount();
            more = snapshot.isWalking();
        } finally {
            state.lock.unlock();
        }
        writeCopied(longs, writer);
        for (int i = 0; i < kept; i++) {
            writeKept(writer);
        }
        return more;
    }

    private void writeCopied(int longs, CheckpointWriter writer) throws IOException {
        int at = 0;
        while (at < longs) {
            long first = slice[at + 2];
            long next = slice[at + 3];
            int count = (int) (next - first);
            writer.list(slice[at], slice[at + 1], first, next);
            writer.regions(slice, at + PartitionSnapshot.HEAD_LONGS, count);
            at += PartitionSnapshot.HEAD_LONGS + count;
        }
    }

    private void writeKept(CheckpointWriter writer) throws IOException {
        Kept list = takeKept();
        if (list == null) {
            return;
        }
        try {
            writer.list(list.id(), list.birth(), list.first(), list.next());
            ListCursor cursor = new ListCursor();
            for (long at = list.first(); at < list.next(); at = cursor.sequence()) {
                int count = (int) Math.min(slice.length, list.next() - at);
                state.copyRegions(list.pin().list(), at, cursor, slice, 0, count);
                writer.regions(slice, 0, count);
            }
        } finally {
            unpin(list);
        }
    }

    private @Nullable Kept takeKept() {
        return state.locked(() -> snapshot.takeKept());
    }

    private void unpin(Kept list) {
        state.locked(() -> space.unpin(list.pin()));
    }

    /** Lets go of what was not written because writing failed. */
    private void dropKept() {
        state.locked(() -> snapshot.stop());
        Kept list = takeKept();
        while (list != null) {
            unpin(list);
            list = takeKept();
        }
    }
}
