package io.caravan.engine;

import io.caravan.NotLeaderException;
import io.caravan.NotWritableException;
import io.caravan.StoreClosedException;
import io.caravan.StoreConfig;
import io.caravan.StoreFailedException;
import io.caravan.heap.HeapFile;
import io.caravan.heap.IndexedHeap;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.io.Storage;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogSegments;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state that the components of an open store share: the store's files, and the index, heap, and life cycle, which
 * the store's lock guards. {@code changed} is signaled after any event for which a write may wait: buffer or disk
 * space, failure, or closing.
 */
final class StoreState {
    private enum Lifecycle {
        OPEN,
        CLOSING,
        CLOSED
    }

    /**
     * Maximum number of chunks of a list that are skipped each time the lock is held. Each chunk may cause a cache
     * miss.
     */
    static final int SEEK_CHUNKS = 256;

    final StoreConfig config;
    final Storage storage;
    final long storeId;
    final LogSegments log;
    final LogGeometry geometry;
    final HeapFile heapFile;
    final Scheduler scheduler;

    /** The position up to which the log is fsynced. */
    final LsnWatermark forced;
    /** The position up to which the log is committed: as durable as the store's durability level requires. */
    final LsnWatermark committed;

    final StoreLock lock;
    final Condition changed;

    // The lock guards the next four fields.
    final ListIndex index;
    final IndexedHeap heap;
    final Counters counters;
    /** Whether a write has found no space, and no change has been signaled since. */
    private boolean lacksSpace;

    private final LongSupplier clock;

    private final String name;
    private volatile Lifecycle lifecycle = Lifecycle.OPEN;
    /** Whether the store is a follower, which replays a leader's frames and rejects other writes. */
    private volatile boolean follows;

    private volatile @Nullable StoreFailedException failure;

    /** Set before the workers start, because the components that use the actions are created before the workers. */
    Wakes wakes = new Wakes(() -> {}, () -> {}, () -> {}, () -> {});

    StoreState(StoreConfig config, Storage storage, Recovered recovered, LongSupplier clock, Scheduler scheduler) {
        this.config = config;
        this.storage = storage;
        this.storeId = recovered.newest().storeId();
        this.log = recovered.log();
        this.geometry = log.geometry();
        this.heapFile = recovered.heapFile();
        this.index = recovered.index();
        this.heap = recovered.heap();
        this.clock = clock;
        this.scheduler = scheduler;
        this.name = "store " + config.directory() + " (" + config.durability() + ")";
        this.forced = new LsnWatermark(recovered.end().position(), scheduler);
        this.committed = new LsnWatermark(recovered.end().position(), scheduler);
        this.lock = new StoreLock(scheduler.newLock(), clock);
        this.counters = new Counters(clock.getAsLong());
        this.changed = lock.newCondition();
    }

    /**
     * The actions that wake the workers of an open store, and the action that {@linkplain CommitQueue#requireForce
     * requires an fsync}.
     */
    record Wakes(Runnable flusher, Runnable checkpointer, Runnable provisioner, Runnable force) {}

    long nowNanos() {
        return clock.getAsLong();
    }

    String name() {
        return name;
    }

    void checkOpen() {
        if (lifecycle != Lifecycle.OPEN) {
            throw new StoreClosedException(name);
        }
    }

    void checkWritable() {
        checkOpen();
        StoreFailedException problem = failure;
        if (problem != null) {
            throw problem;
        }
    }

    boolean takesWrites() {
        return lifecycle == Lifecycle.OPEN && failure == null && !follows;
    }

    boolean follows() {
        return follows;
    }

    void follow(boolean another) {
        follows = another;
    }

    /** Checks that the store is not a follower, as every write except a replay requires. */
    void checkLeads() {
        if (follows) {
            throw new NotLeaderException(name);
        }
    }

    @Nullable
    StoreFailedException failure() {
        scheduler.handOver();
        return failure;
    }

    void locked(Runnable action) {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    <T> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    /** Runs a slice of work under the lock, and measures how long the lock is held. */
    <T> T slice(Supplier<T> work) {
        lock.lockForSlice();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    /** Runs an operation in slices, between which the lock is released, until a slice returns false. */
    void inSlices(BooleanSupplier slice) {
        boolean more = true;
        while (more) {
            more = slice(slice::getAsBoolean);
        }
    }

    /**
     * Copies regions of a pinned list to an array, and moves the cursor past them. The cursor may be at any entry
     * before the call. Takes the lock for a bounded number of chunks at a time.
     *
     * @param from sequence of the first region
     * @param count at most a few hundred
     */
    void copyRegions(int list, long from, ListCursor cursor, long[] target, int count) {
        lock.lockForRead();
        try {
            seek(list, from, cursor);
            index.copyRegions(cursor, target, 0, count);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Moves the cursor to an entry of a pinned list. Called under the lock, which is released at intervals if the entry
     * is far away.
     */
    void seek(int list, long sequence, ListCursor cursor) {
        while (!index.seek(list, sequence, cursor, SEEK_CHUNKS)) {
            lock.unlock();
            lock.lockForSlice();
        }
    }

    /** Wakes waiting writes, because there may now be enough space for them. Called under the lock. */
    void signalChange() {
        lacksSpace = false;
        changed.signalAll();
    }

    boolean lacksSpace() {
        return lacksSpace;
    }

    /**
     * Records a failure, unless one was recorded before, and has the flusher report it to the waiting writes. Returns
     * the recorded failure. Called under the lock.
     */
    StoreFailedException fail(Throwable cause) {
        StoreFailedException problem = failure;
        if (problem == null) {
            problem = new StoreFailedException(name, cause);
            failure = problem;
            counters.failures++;
            signalChange();
            wakes.force().run();
        }
        return problem;
    }

    /**
     * Begins to close the store. If another thread has already begun to do so, waits until the store is closed, and
     * returns false. Called under the lock.
     */
    boolean beginClose() {
        if (lifecycle == Lifecycle.OPEN) {
            lifecycle = Lifecycle.CLOSING;
            signalChange();
            return true;
        }
        while (lifecycle != Lifecycle.CLOSED) {
            awaitChange();
        }
        return false;
    }

    /** Waits for a signal of {@link #changed} or a spurious wakeup. Called under the lock, which the wait releases. */
    void awaitChange() {
        lock.beforeWait();
        scheduler.await(changed);
    }

    /**
     * Waits until the state of the store changes, for example because space was freed, and checks that the store still
     * accepts writes. Called under the lock, which is released during the wait.
     *
     * @throws NotWritableException if the caller may not wait; a store thread may never wait
     */
    void awaitRoom(boolean mayWait) {
        lacksSpace = true;
        if (!mayWait || WorkerThread.onStoreThread()) {
            throw new NotWritableException(name);
        }
        awaitChange();
        checkWritable();
    }

    /** Wakes a close that is waiting for reads to end; no other operation waits for them. Called under the lock. */
    void lastReaderLeft() {
        if (lifecycle != Lifecycle.OPEN) {
            signalChange();
        }
    }

    void endClose() {
        locked(() -> {
            lifecycle = Lifecycle.CLOSED;
            signalChange();
        });
    }

    /** Throws {@link IllegalStateException} on a store thread, which must not wait for the store. */
    static void checkMayWait(String what) {
        if (WorkerThread.onStoreThread()) {
            throw new IllegalStateException(what + " would wait for the store on one of its own threads; do not call it"
                    + " from a callback, hand it to another thread");
        }
    }
}
