package io.caravan.engine;

import io.caravan.StoreFailedException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A position in the log that only rises, and threads that wait for it to pass another. */
final class LsnGate {
    private final ReentrantLock lock;
    private final Condition moved;
    private final Threading threading;
    private volatile long position;
    private volatile long takenBackFrom = Long.MAX_VALUE;
    private @Nullable StoreFailedException failure;

    LsnGate(long position, Threading threading) {
        this.threading = threading;
        this.lock = threading.newLock();
        this.moved = lock.newCondition();
        this.position = position;
    }

    /** Everything before this is through. */
    long position() {
        threading.handOver();
        return position;
    }

    void advance(long to) {
        lock.lock();
        try {
            position = Math.max(position, to);
            moved.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * What is through from this LSN on was taken back, and the gate will fail: who comes now waits for that. Who is past
     * the gate has seen it before.
     */
    void takeBack(long from) {
        takenBackFrom = from;
    }

    /** The position will not rise any more. */
    void fail(StoreFailedException problem) {
        lock.lock();
        try {
            failure = problem;
            moved.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether what starts at this LSN is through, and was not taken back. */
    boolean isPast(long lsn) {
        return isThrough(lsn + 1);
    }

    /** Returns when what starts at this LSN is through. Keeps the interrupt status. */
    void awaitPast(long lsn) {
        await(lsn + 1);
    }

    /** Returns when everything before this LSN is through. Keeps the interrupt status. */
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
                threading.await(moved);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isThrough(long lsn) {
        threading.handOver();
        boolean reached = position >= lsn;
        threading.handOver();
        return reached && lsn <= takenBackFrom;
    }
}
