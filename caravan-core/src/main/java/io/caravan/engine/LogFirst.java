package io.caravan.engine;

/**
 * Lets the log go first while a checkpoint forces the heap: a disk that has been given a whole heap to write keeps the log
 * waiting, and with it everybody who writes. A burst has the disk nearly for itself; under a load that lasts the heap gets
 * as many bytes written as the log, or the log would outgrow what the checkpoint is to make unnecessary.
 */
final class LogFirst {
    /** Of the least distance between checkpoints: by how much the log may grow faster than the heap is forced. */
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
     * Comes after each portion of the heap. Waits for the flush that is under way, if there is one, but not when the log
     * is ahead by more than a burst.
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
