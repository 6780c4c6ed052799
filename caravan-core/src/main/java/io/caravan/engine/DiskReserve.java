package io.caravan.engine;

import io.caravan.format.CheckpointLayout;
import io.caravan.format.RecordLayout;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * Disk space that stays free for the next checkpoints, so that the log never takes what a checkpoint needs to make it
 * shorter, and the heap never takes what its checkpoint's file needs. Other programs may take that space all the same.
 */
final class DiskReserve {
    /** Of a log segment, so much is kept for what a file system needs beside the bytes of files. */
    private static final int SLACK_SHARE = 32;
    /** An entry's record in the log takes at least four times its region in the index. */
    private static final int RECORD_TO_REGION = 4;

    private final StoreState state;
    private final HeapSpace space;
    private final LogGeometry log;
    private final LongSupplier logEnd;
    private final long slackBytes;
    private volatile long newestCheckpointBytes;

    /**
     * A reserve.
     *
     * @param logEnd where the log ends, with what is not sealed yet; called under the store's lock
     */
    DiskReserve(StoreState state, HeapSpace space, LongSupplier logEnd, long newestCheckpointBytes) {
        this.state = state;
        this.space = space;
        this.log = state.geometry;
        this.logEnd = logEnd;
        this.slackBytes = 2L * state.heapFile.geometry().growthBytes() + log.segmentBytes() / SLACK_SHARE;
        this.newestCheckpointBytes = newestCheckpointBytes;
    }

    /** The newest checkpoint has a file of this size. */
    void published(long checkpointBytes) {
        newestCheckpointBytes = checkpointBytes;
    }

    /**
     * How many bytes of disk space are lacking if the log's last segment is to be this one. Appends may fill all segments
     * before it, and all that they append may survive: the heap must be able to grow by what finds no place in it.
     *
     * @param takes bytes that the segment would take
     */
    long lackingForLog(long last, long takes) throws IOException {
        long needed = takes + state.locked(() -> neededForLog(last));
        // Afterwards: what a checkpoint takes in between is then counted twice, and not left out.
        return needed - state.storage.usableBytes();
    }

    private long neededForLog(long last) {
        long appendEnd = log.startOf(last) + log.frontBytes();
        long appendable = Math.max(0, appendEnd - logEnd.getAsLong());
        long shortage = space.shortage(appendable);
        return fileBytes(appendable) + slackBytes + (shortage > 0 ? shortage + 2 * slackBytes : 0);
    }

    /**
     * How many bytes of disk space are lacking if the heap is to grow. More must be left than the log needs for its next
     * segment when the heap need not grow, so that the log can go on once documents are deleted.
     *
     * @param takes bytes that the heap would take
     */
    long lackingForHeap(long takes) throws IOException {
        long needed = takes + state.locked(() -> fileBytes(2L * log.segmentBytes())) + 2 * slackBytes;
        return needed - state.storage.usableBytes();
    }

    /** What the files of the next two checkpoints take, beside those that they replace. */
    private long fileBytes(long appendable) {
        long bytes = checkpointBytes(appendable);
        return bytes + Math.max(0, bytes - newestCheckpointBytes);
    }

    /** Size of a checkpoint's file after so many bytes more of the log, if values stay as long as they are. */
    private long checkpointBytes(long appendable) {
        long entries = state.index.entryCount();
        long bytes = CheckpointLayout.fileBytes(state.index.listCount(), entries);
        long valueBytes = space.usedBytes() + entries * RecordLayout.ENTRY;
        double share = (double) (bytes - CheckpointLayout.fileBytes(0, 0)) / Math.max(1, valueBytes);
        return bytes + (long) Math.min(share * appendable, (double) appendable / RECORD_TO_REGION);
    }
}
