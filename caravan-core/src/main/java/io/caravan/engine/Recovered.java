package io.caravan.engine;

import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.heap.HeapFile;
import io.caravan.heap.IndexedHeap;
import io.caravan.index.ListIndex;
import io.caravan.wal.LogScanner;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * A store's state as its files tell it.
 *
 * @param newest the checkpoint that it was built from
 * @param newestBytes that checkpoint's file size
 * @param checkpoints numbers of the checkpoints that are good, ascending; the last is the newest
 * @param badCheckpoints numbers of those that are not
 * @param neededLogSegment the oldest log segment that a good checkpoint needs
 * @param log the log's open segments
 * @param end where the log ends
 * @param freed places in the heap that the replayed records freed, which nothing may take before the next checkpoint
 * @param cases what was found, see the table
 */
public record Recovered(
        CheckpointHeader newest,
        long newestBytes,
        List<Long> checkpoints,
        List<Long> badCheckpoints,
        long neededLogSegment,
        LogSegments log,
        LogScanner.End end,
        HeapFile heapFile,
        ListIndex index,
        IndexedHeap heap,
        FreedPlaces freed,
        Set<RecoveryCase> cases)
        implements AutoCloseable {

    @Override
    public void close() throws IOException {
        heapFile.close();
        log.close();
    }
}
