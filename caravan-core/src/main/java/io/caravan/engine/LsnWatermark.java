package io.caravan.engine;

import io.caravan.StoreFailedException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A log position that only advances, such as the committed position. Threads can wait until it reaches an LSN. */
final class LsnWatermark {
    private final ReentrantLock lock;
    private final Condition moved;
    private final Scheduler scheduler;
    private volatile long position;
    private volatile long takenBackFrom = Long.MAX_VALUE;
    private @Nullable StoreFailedException failure;

    LsnWatermark(long position, Scheduler scheduler) {
        this.scheduler = scheduler;
        this.lock = scheduler.newLock();
        this.moved = lock.newCondition();
        this.position = position;
    }

    long position() {
        scheduler.handOver();
        return position;
    }

    void advance(long to) {
        change(() -> position = Math.max(position, to));
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            moved.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Marks all records from this LSN on as lost. Called before {@link #fail}. Later waits for these records then end
     * with the failure. Callers whose wait has already ended may have seen the records.
     */
    void takeBack(long from) {
        takenBackFrom = from;
    }

    /** Fails all current and future waits for positions that have not been reached. The position no longer rises. */
    void fail(StoreFailedException problem) {
        change(() -> failure = problem);
    }

    /** Whether the position is past this LSN, and the record at this LSN is not marked as lost. */
    boolean hasPassed(long lsn) {
        return isThrough(lsn + 1);
    }

    /** Waits until the position has passed this LSN. Preserves the interrupt status. */
    void awaitPassed(long lsn) {
        await(lsn + 1);
    }

    /** Waits until the position has reached this LSN. Preserves the interrupt status. */
    void await(long lsn) {
        if (isThrough(lsn)) {
            return;
        }
        lock.lock();
        try {
            while (!isThrough(lsn)) {
                if (failure != null) {
                    throw failure;
                }
                scheduler.await(moved);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isThrough(long lsn) {
        scheduler.handOver();
        boolean reached = position >= lsn;
        scheduler.handOver();
        return reached && lsn <= takenBackFrom;
    }
}
