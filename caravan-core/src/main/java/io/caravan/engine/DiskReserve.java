package io.caravan.engine;

import io.caravan.format.CheckpointLayout;
import io.caravan.format.RecordLayout;
import io.caravan.wal.LogGeometry;
import java.io.IOException;
import java.util.function.LongSupplier;

/**
 * Reserves disk space for the next checkpoints. The log never takes the space that a checkpoint needs to shorten the
 * log, and the heap never takes the space that a checkpoint file needs. Other programs may still use that space.
 */
final class DiskReserve {
    /** The number by which the log segment size is divided to obtain the space reserved for file system overhead. */
    private static final int SLACK_SHARE = 32;
    /** The minimum ratio of the size of an entry's record in the log to the size of its region in the index. */
    private static final int RECORD_TO_REGION = 4;

    private final StoreState state;
    private final HeapSpace space;
    private final LogGeometry log;
    private final LongSupplier logEnd;
    private final long slackBytes;
    private volatile long newestCheckpointBytes;

    /**
     * Creates a reserve for a store.
     *
     * @param logEnd returns the end of the log, including records that are not sealed yet; called under the store's
     *     lock
     */
    DiskReserve(StoreState state, HeapSpace space, LongSupplier logEnd, long newestCheckpointBytes) {
        this.state = state;
        this.space = space;
        this.log = state.geometry;
        this.logEnd = logEnd;
        this.slackBytes = 2L * state.heapFile.geometry().growthBytes() + log.segmentBytes() / SLACK_SHARE;
        this.newestCheckpointBytes = newestCheckpointBytes;
    }

    /** Records the file size of the newest checkpoint. */
    void published(long checkpointBytes) {
        newestCheckpointBytes = checkpointBytes;
    }

    /**
     * Returns how many more bytes of disk space the log needs to extend to this last segment; zero or less if the space
     * suffices. Appends may fill all earlier segments, and all appended entries may survive. The heap must then be able
     * to grow for the entries that do not fit in its free space.
     *
     * @param takes number of bytes that the segment would take
     */
    long lackingForLog(long last, long takes) throws IOException {
        long needed = takes + state.locked(() -> neededForLog(last));
        // The free space is measured last. Space that a checkpoint takes in between is therefore counted twice rather
        // than missed.
        return needed - state.storage.usableBytes();
    }

    private long neededForLog(long last) {
        long appendEnd = log.startOf(last) + log.frontBytes();
        long appendable = Math.max(0, appendEnd - logEnd.getAsLong());
        long shortage = space.shortage(appendable);
        return fileBytes(appendable) + slackBytes + (shortage > 0 ? shortage + 2 * slackBytes : 0);
    }

    /**
     * Returns how many more bytes of disk space the heap needs to grow; zero or less if the space suffices. The
     * remaining space must suffice for the log to recycle a segment, so that the log can continue once documents are
     * deleted.
     *
     * @param takes number of bytes that the heap would take
     */
    long lackingForHeap(long takes) throws IOException {
        long needed = takes + state.locked(() -> fileBytes(2L * log.segmentBytes())) + 2 * slackBytes;
        return needed - state.storage.usableBytes();
    }

    /** Returns the total size of the next two checkpoint files, minus the size of the files that they replace. */
    private long fileBytes(long appendable) {
        long bytes = checkpointBytes(appendable);
        return bytes + Math.max(0, bytes - newestCheckpointBytes);
    }

    /**
     * Returns the estimated size of a checkpoint file after this many more bytes have been appended to the log, if the
     * mean value size stays the same.
     */
    private long checkpointBytes(long appendable) {
        long entries = state.index.entryCount();
        long bytes = CheckpointLayout.fileBytes(state.index.listCount(), entries);
        long valueBytes = space.usedBytes() + entries * RecordLayout.ENTRY;
        double share = (double) (bytes - CheckpointLayout.fileBytes(0, 0)) / Math.max(1, valueBytes);
        return bytes + (long) Math.min(share * appendable, (double) appendable / RECORD_TO_REGION);
    }
}
