package io.caravan.engine;

import io.caravan.StoreStats.Distribution;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The store's lock, which measures how long it is held: always where work is done slice by slice, and once in
 * {@value #SAMPLED} times elsewhere. To measure every append would cost a tenth of it.
 */
final class StoreLock {
    static final int SAMPLED = 64;

    private final ReentrantLock lock;
    private final LongSupplier clock;

    /** Guarded by this lock, as are the fields below. */
    private final Histogram heldNanos = new Histogram();

    private int unmeasured;
    private boolean measuring;
    private long sinceNanos;

    StoreLock(ReentrantLock lock, LongSupplier clock) {
        this.lock = lock;
        this.clock = clock;
    }

    /** Takes the lock for something short. */
    void lock() {
        lock.lock();
        if (++unmeasured == SAMPLED) {
            measure();
        }
    }

    /** Takes the lock for a slice of work that is larger than it. */
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

    /** Whoever holds the lock is about to wait, and lets go of it meanwhile: this hold is not measured. */
    void beforeWait() {
        measuring = false;
    }

    Condition newCondition() {
        return lock.newCondition();
    }

    /** How long it was held, in nanoseconds. Under the lock. */
    Distribution heldNanos() {
        return heldNanos.read();
    }
}
