package io.caravan.engine;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.EntryLayout;
import io.caravan.format.InvalidRecordException;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.heap.HeapFile;
import io.caravan.index.ListIndex;
import java.nio.ByteBuffer;

/**
 * Rebuilds the index: first from a checkpoint, then from the records behind its start, skipping those that a partition
 * already contains (those before its capture). Together with the values, which {@link HeapApplier} rewrites in log
 * order, any number of replays from any retained checkpoint ends in the same state.
 */
final class IndexReplay implements CheckpointReader.Visitor, RecordLayout.Visitor {
    private static final int RECLAIM_ALL = Integer.MAX_VALUE;

    private final ListIndex index = new ListIndex();
    private final HeapFile heapFile;
    private final long[] captureLsns = new long[ListIndex.PARTITIONS];
    private final CheckpointReader checkpoint;
    private int partition;

    IndexReplay(HeapFile heapFile, CheckpointReader checkpoint) {
        this.heapFile = heapFile;
        this.checkpoint = checkpoint;
    }

    ListIndex index() {
        return index;
    }

    @Override
    public void partition(int number, long captureLsn) {
        partition = number;
        captureLsns[number] = captureLsn;
    }

    @Override
    public void piece(long id, long birth, long first, long next, ByteBuffer regions, int at, int count) {
        if (index.partitionOf(id) != partition) {
            throw checkpoint.corruptPiece("document " + id + " does not belong to partition " + partition);
        }
        int found = index.find(id);
        int list = found == ListIndex.NONE ? index.create(id, birth, first) : found;
        for (int i = 0; i < count; i++) {
            index.append(list, regions.getLong(at + i * Long.BYTES), birth);
        }
    }

    @Override
    public void append(long lsn, long id, long sequence, long address, ByteBuffer buffer, int entryAt, int length) {
        int bytes = EntryLayout.entryBytes(length);
        if (!heapFile.geometry().contains(address, bytes)) {
            throw contradiction(lsn, id, sequence, "names heap address " + address + ", where no region can be");
        }
        if (heapFile.geometry().segmentOf(address) >= heapFile.segmentCount()) {
            throw heapFile.missing(heapFile.geometry().segmentOf(address));
        }
        if (contained(lsn, id)) {
            return;
        }
        int found = index.find(id);
        int list = found == ListIndex.NONE ? index.create(id, lsn, 0) : found;
        if (index.next(list) != sequence) {
            throw contradiction(lsn, id, sequence, "follows sequence " + (index.next(list) - 1));
        }
        index.append(list, Region.pack(address, length), lsn);
    }

    @Override
    public void trim(long lsn, long id, long firstSequence) {
        if (!contained(lsn, id)) {
            int list = existing(lsn, id);
            index.trimTo(list, firstSequence, lsn);
            index.reclaim(list, firstSequence, RECLAIM_ALL, region -> {});
        }
    }

    @Override
    public void delete(long lsn, long id) {
        if (!contained(lsn, id)) {
            int list = existing(lsn, id);
            index.remove(list, lsn);
            index.queued(list);
            index.reclaim(list, index.next(list), RECLAIM_ALL, region -> {});
            index.unqueued(list);
        }
    }

    private boolean contained(long lsn, long id) {
        return lsn < captureLsns[index.partitionOf(id)];
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
