package io.caravan.engine;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.InvalidRecordException;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import io.caravan.wal.LogGeometry;
import java.nio.ByteBuffer;
import java.util.function.LongPredicate;

/**
 * Rebuilds the index from a checkpoint, and then from the log records after the checkpoint's start. Skips records whose
 * effect the checkpoint already contains: those before the LSN at which their partition was captured. Replaying from
 * any retained checkpoint, any number of times, yields the same state.
 */
final class IndexReplay implements CheckpointReader.Visitor, RecordLayout.Visitor {
    private static final int RECLAIM_ALL = Integer.MAX_VALUE;

    private final ListIndex index = new ListIndex();
    private final PendingFrees freed = new PendingFrees();
    private final long[] captureLsns = new long[ListIndex.PARTITIONS];
    private final CheckpointReader checkpoint;
    private final LongPredicate used;
    private final LogGeometry geometry;
    private int partition;
    private long maxCaptureLsn;
    /** The segment of the last frame. */
    private long segment;
    /** The total size of the appends after the segment's front. Everything before the replay counts as appends. */
    private int bytesAfterFront;

    private boolean inFront;

    /** @param used adds a region of the checkpoint that is in the heap; false if the heap has no such place */
    IndexReplay(CheckpointReader checkpoint, LongPredicate used) {
        this.checkpoint = checkpoint;
        this.used = used;
        this.geometry = new LogGeometry(checkpoint.header().logSegmentBytes());
        long start = checkpoint.header().startLsn();
        segment = geometry.segmentOf(start);
        bytesAfterFront = Math.max(0, geometry.offsetOf(start) - geometry.frontBytes());
    }

    ListIndex index() {
        return index;
    }

    /** Returns the heap places of the checkpoint's entries that replayed records have removed. */
    PendingFrees freed() {
        return freed;
    }

    /** Returns the maximum total size of the appends after the front of the last frame's segment. */
    int bytesAfterFront() {
        return bytesAfterFront;
    }

    /** Replays the records of a frame. */
    void frame(ByteBuffer buffer, int at, long lsn) {
        bytesAfterFront = geometry.segmentOf(lsn) == segment ? bytesAfterFront : 0;
        segment = geometry.segmentOf(lsn);
        inFront = geometry.isInFront(lsn);
        RecordLayout.forEachInFrame(buffer, at, lsn, this);
    }

    @Override
    public void partition(int number, long captureLsn) {
        partition = number;
        captureLsns[number] = captureLsn;
        maxCaptureLsn = Math.max(maxCaptureLsn, captureLsn);
    }

    @Override
    public void piece(long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {
        if (ListIndex.partitionOf(id) != partition) {
            throw checkpoint.corruptPiece("document " + id + " does not belong to partition " + partition);
        }
        int list = index.findOrCreate(id, creationLsn, first);
        boolean inLogBefore = index.tenured(list) < index.next(list);
        for (int i = 0; i < count; i++) {
            long region = regions.getLong(at + i * Long.BYTES);
            checkPlace(id, region, inLogBefore);
            inLogBefore |= Region.isInLog(region);
        }
        index.append(list, regions, at, count, creationLsn);
    }

    /**
     * Checks the places of a list's entries: entries in the heap come first, followed by entries in the log after the
     * checkpoint's start. Passes on the region of an entry in the heap.
     */
    private void checkPlace(long id, long region, boolean inLogBefore) {
        if (Region.isInLog(region)) {
            long captureLsn = captureLsns[partition];
            long lsn = Region.entryLsn(region, captureLsn);
            if (lsn < checkpoint.header().startLsn() || lsn >= captureLsn) {
                throw checkpoint.corruptPiece("document " + id + " has an entry at LSN " + lsn
                        + ", outside of what the checkpoint keeps of the log");
            }
        } else if (inLogBefore) {
            throw checkpoint.corruptPiece("document " + id + " has an entry in the heap after an entry in the log");
        } else if (!used.test(region)) {
            throw checkpoint.corruptPiece("document " + id + " has an entry of " + Region.entryBytes(region)
                    + " bytes at heap address " + Region.address(region) + ", outside of the heap's segments");
        }
    }

    @Override
    public void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int entryAt, int length) {
        bytesAfterFront += inFront ? 0 : RecordLayout.appendBytes(length);
        if (contained(lsn, id)) {
            return;
        }
        int list = index.findOrCreate(id, lsn, 0);
        if (index.next(list) != sequence) {
            throw contradiction(lsn, id, sequence, "follows sequence " + (index.next(list) - 1));
        }
        index.append(list, Region.inLog(entryLsn, length), lsn);
    }

    @Override
    public void trim(long lsn, long id, long firstSequence) {
        if (!contained(lsn, id)) {
            int list = existing(lsn, id);
            index.trimTo(list, firstSequence, lsn);
            index.reclaim(list, firstSequence, RECLAIM_ALL, freed::add);
        }
    }

    @Override
    public void delete(long lsn, long id) {
        if (!contained(lsn, id)) {
            int list = existing(lsn, id);
            index.remove(list, lsn);
            index.queued(list);
            index.reclaim(list, index.next(list), RECLAIM_ALL, freed::add);
            index.unqueued(list);
        }
    }

    private boolean contained(long lsn, long id) {
        return lsn < maxCaptureLsn && lsn < captureLsns[ListIndex.partitionOf(id)];
    }

    private int existing(long lsn, long id) {
        int list = index.find(id);
        if (list == ListIndex.NONE) {
            throw contradiction(lsn, id, 0, "changes a list that does not exist");
        }
        return list;
    }

    private static InvalidRecordException contradiction(long lsn, long id, long sequence, String problem) {
        return new InvalidRecordException(lsn, id, sequence, "the record " + problem);
    }
}
