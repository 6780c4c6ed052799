package io.caravan.engine;

/**
 * Lets the log go first while a checkpoint moves values to the heap: a disk that has much of the heap to write keeps
 * the log waiting, and with it every writer. A burst has the disk nearly to itself; under a lasting load the heap gets
 * as many bytes written as the log does, or the log would outgrow what the checkpoint makes unnecessary.
 */
final class LogFirst {
    /** By how many of the least distances between checkpoints the log may be ahead of the heap. */
    private static final int BURST = 4;

    private final StoreState state;
    private final CommitQueue queue;
    private final LsnGate committed;
    private final long checkpointFloorBytes;
    private final long startLsn;
    private long heapBytes;

    LogFirst(StoreState state, CommitQueue queue, LsnGate committed, long checkpointFloorBytes) {
        this.state = state;
        this.queue = queue;
        this.committed = committed;
        this.checkpointFloorBytes = checkpointFloorBytes;
        this.startLsn = committed.position();
    }

    /**
     * Called after each portion of the heap. Waits for the flush that is under way, if there is one, unless the log is
     * ahead by more than a burst.
     */
    void afterWriting(long bytes) {
        heapBytes += bytes;
        long logBytes = committed.position() - startLsn;
        if ((logBytes - heapBytes) / BURST <= checkpointFloorBytes) {
            committed.await(sealedUpTo());
        }
    }

    private long sealedUpTo() {
        return state.locked(() -> queue.tail());
    }
}
