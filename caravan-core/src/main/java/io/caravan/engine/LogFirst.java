package io.caravan.engine;

/**
 * Lets the log go first while a checkpoint forces the heap: a disk that has a whole heap to write keeps the log
 * waiting, and with it every writer. A burst has the disk nearly to itself; under a lasting load the heap gets as many
 * bytes written as the log does, or the log would outgrow what the checkpoint makes unnecessary.
 */
final class LogFirst {
    /** By how many of the least distances between checkpoints the log may be ahead of the heap. */
    private static final int BURST = 4;

    private final StoreState state;
    private final CommitQueue queue;
    private final LsnGate applied;
    private final long checkpointFloorBytes;
    private final long startLsn;
    private long forcedBytes;

    LogFirst(StoreState state, CommitQueue queue, LsnGate applied, long checkpointFloorBytes) {
        this.state = state;
        this.queue = queue;
        this.applied = applied;
        this.checkpointFloorBytes = checkpointFloorBytes;
        this.startLsn = applied.position();
    }

    /**
     * Called after each portion of the heap. Waits for the flush that is under way, if there is one, unless the log is
     * ahead by more than a burst.
     */
    void afterForcing(int bytes) {
        forcedBytes += bytes;
        long logBytes = applied.position() - startLsn;
        if ((logBytes - forcedBytes) / BURST <= checkpointFloorBytes) {
            applied.await(sealedUpTo());
        }
    }

    private long sealedUpTo() {
        state.lock.lock();
        try {
            return queue.tail();
        } finally {
            state.lock.unlock();
        }
    }
}
