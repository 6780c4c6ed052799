package io.caravan.engine;

import io.caravan.StoreStats.Distribution;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The store's lock, which measures how long it is held: for every slice of work, and for one in {@value #SAMPLED} of
 * the other operations. Measuring every append would add a tenth to its cost.
 */
final class StoreLock {
    static final int SAMPLED = 64;
    /** Number of times that a read tries to take the lock before it waits. */
    private static final int TRIES = 100;

    private final ReentrantLock lock;
    private final LongSupplier clock;

    /** The measured times for which the lock was held. The store's lock guards this field and the following fields. */
    private final Histogram heldNanos = new Histogram();

    private int unmeasured;
    private boolean measuring;
    private long sinceNanos;

    StoreLock(ReentrantLock lock, LongSupplier clock) {
        this.lock = lock;
        this.clock = clock;
    }

    /** Takes the lock for a short operation. */
    void lock() {
        lock.lock();
        sample();
    }

    /**
     * Takes the lock for a short operation of a read. A read takes the lock several times, for less time than it takes
     * to wake a waiting thread, so it first tries repeatedly.
     */
    void lockForRead() {
        for (int tries = 1; !lock.tryLock(); tries++) {
            if (tries == TRIES) {
                lock.lock();
                break;
            }
            Thread.onSpinWait();
        }
        sample();
    }

    private void sample() {
        if (++unmeasured == SAMPLED) {
            measure();
        }
    }

    /** Takes the lock for a slice of work, and measures how long it is held. */
    void lockForSlice() {
        lock.lock();
        measure();
    }

    private void measure() {
        unmeasured = 0;
        measuring = true;
        sinceNanos = clock.getAsLong();
    }

    void unlock() {
        if (measuring) {
            measuring = false;
            heldNanos.record(clock.getAsLong() - sinceNanos);
        }
        lock.unlock();
    }

    /** Excludes this hold from the measurements, because the holder is about to wait, which releases the lock. */
    void beforeWait() {
        measuring = false;
    }

    Condition newCondition() {
        return lock.newCondition();
    }

    /** Returns the distribution of the times for which the lock was held, in nanoseconds. Called under the lock. */
    Distribution heldNanos() {
        return heldNanos.read();
    }
}
