package io.caravan.engine;

import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Copies one partition of the index under the lock, and writes it outside. What would take long to copy is pinned
 * instead and copied afterwards, slice by slice: a pinned list's regions stay as they were at the capture.
 */
final class PartitionCapture {
    /** Longs copied under one lock: a tenth of a millisecond. */
    private static final int COPIED_LONGS = 1 << 16;

    private static final int FIRST_LONGS = 1 << 10;

    private static final int HEAD_LONGS = 4;

    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;
    private final ListCursor cursor = new ListCursor();
    private long[] copied = new long[FIRST_LONGS];
    private int copiedLongs;

    PartitionCapture(StoreState state, CommitQueue queue, HeapSpace space) {
        this.state = state;
        this.queue = queue;
        this.space = space;
    }

    /** A list to copy later. */
    private record Deferred(ListIndex.Pin pin, long id, long birth, long first, long next) {}

    /** Captures and writes a partition; returns the LSN of the capture. */
    long capture(int partition, CheckpointWriter writer) throws IOException {
        List<Deferred> deferred = new ArrayList<>();
        long captureLsn = copy(partition, deferred);
        try {
            writer.startPartition(partition, captureLsn);
            writeCopied(writer);
            for (Deferred list : deferred) {
                writeDeferred(list, writer);
            }
            writer.endPartition();
        } finally {
            unpin(deferred);
        }
        return captureLsn;
    }

    private long copy(int partition, List<Deferred> deferred) {
        copiedLongs = 0;
        state.lock.lock();
        try {
            state.index.forEachList(partition, list -> copyOrDefer(list, deferred));
            return queue.nextLsn();
        } finally {
            state.lock.unlock();
        }
    }

    private void copyOrDefer(int list, List<Deferred> deferred) {
        ListIndex index = state.index;
        long first = index.first(list);
        long next = index.next(list);
        if (next - first + HEAD_LONGS > COPIED_LONGS - copiedLongs) {
            deferred.add(new Deferred(index.pin(list, first), index.id(list), index.birth(list), first, next));
            return;
        }
        makeRoom(copiedLongs + HEAD_LONGS + (int) (next - first));
        copied[copiedLongs++] = index.id(list);
        copied[copiedLongs++] = index.birth(list);
        copied[copiedLongs++] = first;
        copied[copiedLongs++] = next;
        if (next > first) {
            index.seek(list, first, cursor);
            index.copyRegions(cursor, copied, copiedLongs, (int) (next - first));
            copiedLongs += (int) (next - first);
        }
    }

    private void makeRoom(int longs) {
        if (longs > copied.length) {
            copied = Arrays.copyOf(copied, Math.max(longs, 2 * copied.length));
        }
    }

    private void writeCopied(CheckpointWriter writer) throws IOException {
        int at = 0;
        while (at < copiedLongs) {
            long first = copied[at + 2];
            long next = copied[at + 3];
            int count = (int) (next - first);
            writer.list(copied[at], copied[at + 1], first, next);
            writer.regions(copied, at + HEAD_LONGS, count);
            at += HEAD_LONGS + count;
        }
    }

    private void writeDeferred(Deferred list, CheckpointWriter writer) throws IOException {
        writer.list(list.id(), list.birth(), list.first(), list.next());
        ListCursor place = new ListCursor();
        seek(list, place);
        while (place.sequence() < list.next()) {
            int count = (int) Math.min(copied.length, list.next() - place.sequence());
            copySlice(place, count);
            writer.regions(copied, 0, count);
        }
    }

    private void seek(Deferred list, ListCursor place) {
        state.lock.lock();
        try {
            state.index.seek(list.pin().list(), list.first(), place);
        } finally {
            state.lock.unlock();
        }
    }

    private void copySlice(ListCursor place, int count) {
        state.lock.lock();
        try {
            state.index.copyRegions(place, copied, 0, count);
        } finally {
            state.lock.unlock();
        }
    }

    private void unpin(List<Deferred> deferred) {
        state.lock.lock();
        try {
            for (Deferred list : deferred) {
                space.unpin(list.pin());
            }
        } finally {
            state.lock.unlock();
        }
    }
}
