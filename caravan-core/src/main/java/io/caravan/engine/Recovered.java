package io.caravan.engine;

import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.format.Region;
import io.caravan.heap.HeapFile;
import io.caravan.heap.IndexedHeap;
import io.caravan.index.ListIndex;
import io.caravan.wal.LogScanner;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The state of a store as recovered from its files.
 *
 * @param checkpoints the good checkpoints, oldest first; the state was built from the last
 * @param newestBytes the file size of the last good checkpoint
 * @param log the log's open segments
 * @param end the end of the log
 * @param bytesAfterFront the maximum total size of the appends after the front of the segment with the last frame
 * @param freed heap places that the replayed records freed, which must not be reused before the next checkpoint
 * @param cases the cases of the decision table that apply
 */
public record Recovered(
        List<CheckpointHeader> checkpoints,
        long newestBytes,
        LogSegments log,
        LogScanner.End end,
        int bytesAfterFront,
        HeapFile heapFile,
        ListIndex index,
        IndexedHeap heap,
        PendingFrees freed,
        Set<RecoveryCase> cases)
        implements AutoCloseable {

    /** Returns the checkpoint from which the state was built. */
    public CheckpointHeader newest() {
        return checkpoints.get(checkpoints.size() - 1);
    }

    /** Returns the checked value of an entry. It is valid until the files are closed. */
    public ByteBuffer read(long region, long id, long creationLsn, long sequence) {
        return Region.isInLog(region)
                ? Objects.requireNonNull(log.read(region, end.position(), id, creationLsn, sequence))
                : heapFile.read(region, id, creationLsn, sequence);
    }

    @Override
    public void close() throws IOException {
        heapFile.close();
        log.close();
    }
}
