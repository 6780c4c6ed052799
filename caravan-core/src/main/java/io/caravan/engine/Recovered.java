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
 * The state of a store as recovered from its files.
 *
 * @param newest the checkpoint from which the state was built
 * @param newestBytes the file size of that checkpoint
 * @param checkpoints numbers of the good checkpoints, ascending; the last is the newest
 * @param badCheckpoints numbers of the damaged checkpoints
 * @param neededLogSegment the oldest log segment that a good checkpoint needs
 * @param log the log's open segments
 * @param end the end of the log
 * @param freed heap places that the replayed records freed, which must not be reused before the next checkpoint
 * @param cases the cases of the decision table that apply
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
        PendingFrees freed,
        Set<RecoveryCase> cases)
        implements AutoCloseable {

    /** Returns a copy of this state with these good and bad checkpoints, and this oldest needed log segment. */
    Recovered from(List<Long> good, List<Long> bad, long firstNeededSegment) {
        return new Recovered(
                newest, newestBytes, good, bad, firstNeededSegment, log, end, heapFile, index, heap, freed, cases);
    }

    @Override
    public void close() throws IOException {
        heapFile.close();
        log.close();
    }
}
