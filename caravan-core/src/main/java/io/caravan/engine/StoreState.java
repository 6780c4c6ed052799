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
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the parts of an open store share: its files, and what its lock guards: index, heap, life cycle. {@code changed} is
 * signalled whenever something happened that a waiting write may have waited for: room in a buffer, space, failure,
 * closing.
 */
final class StoreState {
    private enum Life {
        OPEN,
        CLOSING,
        CLOSED
    }

    /** Chunks of a list that are walked past under one hold of the lock: each may be a cache miss. */
    static final int SEEK_CHUNKS = 256;

    final StoreConfig config;
    final Storage storage;
    final long storeId;
    final LogSegments log;
    final LogGeometry geometry;
    final HeapFile heapFile;
    final Wakes wakes;
    final Threading threading;

    /** How far the log is forced. */
    final LsnGate forced;
    /** How far it is committed: as durable as the store promises. */
    final LsnGate committed;

    final StoreLock lock;
    final Condition changed;

    /** Guarded by {@link #lock}. */
    final ListIndex index;

    /** Guarded by {@link #lock}. */
    final IndexedHeap heap;

    /** Guarded by {@link #lock}. */
    final Counters counters;

    private final LongSupplier clock;

    private final String name;
    private volatile Life life = Life.OPEN;
    /** Whether it repeats the frames of a leader, and takes no writes of its own. */
    private volatile boolean follows;

    private volatile @Nullable StoreFailedException failure;

    StoreState(
            StoreConfig config,
            Storage storage,
            Recovered recovered,
            LongSupplier clock,
            Threading threading,
            Wakes wakes) {
        this.config = config;
        this.storage = storage;
        this.storeId = recovered.newest().storeId();
        this.log = recovered.log();
        this.geometry = log.geometry();
        this.heapFile = recovered.heapFile();
        this.index = recovered.index();
        this.heap = recovered.heap();
        this.clock = clock;
        this.threading = threading;
        this.wakes = wakes;
        this.name = "store " + config.directory() + " (" + config.durability() + ")";
        this.forced = new LsnGate(recovered.end().position(), threading);
        this.committed = new LsnGate(recovered.end().position(), threading);
        this.lock = new StoreLock(threading.newLock(), clock);
        this.counters = new Counters(clock.getAsLong());
        this.changed = lock.newCondition();
    }

    /** How the workers of an open store are woken. */
    record Wakes(Runnable flusher, Runnable checkpointer, Runnable provisioner) {}

    /** The clock's nanoseconds. */
    long nowNanos() {
        return clock.getAsLong();
    }

    String name() {
        return name;
    }

    void checkOpen() {
        if (life != Life.OPEN) {
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

    /** Whether a write that comes now is not refused. */
    boolean takesWrites() {
        return life == Life.OPEN && failure == null && !follows;
    }

    /** Whether only {@link ReplayPath} writes. */
    boolean follows() {
        return follows;
    }

    void follow(boolean another) {
        follows = another;
    }

    /** Checks that a write which is not a leader's may enter. */
    void checkLeads() {
        if (follows) {
            throw new NotLeaderException(name);
        }
    }

    @Nullable
    StoreFailedException failure() {
        threading.handOver();
        return failure;
    }

    /** Runs an action under the lock. */
    void locked(Runnable action) {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    /** Looks something up under the lock. */
    <T> T locked(Supplier<T> look) {
        lock.lock();
        try {
            return look.get();
        } finally {
            lock.unlock();
        }
    }

    /** Does a slice of work under the lock that is larger than taking it. */
    <T> T slice(Supplier<T> work) {
        lock.lockForSlice();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    /** Does a slice of work under the lock that is larger than taking it. */
    void slice(Runnable work) {
        slice(() -> {
            work.run();
            return null;
        });
    }

    /** Gives the lock to whoever waits for it, between slices of work that would hold it long. Under the lock. */
    void letOthersIn() {
        lock.unlock();
        lock.lock();
        checkWritable();
    }

    /**
     * Copies regions of a pinned list, from the cursor's place or wherever {@code from} is, and moves the cursor behind
     * them. Takes the lock, and holds it for a bounded number of chunks at a time.
     *
     * @param count some hundreds at most
     */
    void copyRegions(int list, long from, ListCursor cursor, long[] target, int at, int count) {
        locked(() -> {
            seek(list, from, cursor);
            index.copyRegions(cursor, target, at, count);
        });
    }

    /** Moves the cursor to an entry of a pinned list. Under the lock, which it lets go of now and then on a long way. */
    void seek(int list, long sequence, ListCursor cursor) {
        while (!index.seek(list, sequence, cursor, SEEK_CHUNKS)) {
            lock.unlock();
            lock.lockForSlice();
        }
    }

    /** Records the first failure; returns it, or the one that was there before. Under the lock. */
    StoreFailedException fail(Throwable cause) {
        StoreFailedException problem = failure;
        if (problem == null) {
            problem = new StoreFailedException(name, cause);
            failure = problem;
            counters.failures++;
            changed.signalAll();
        }
        return problem;
    }

    /** Starts closing; false when somebody already has, and then returns only when it is done. Under the lock. */
    boolean beginClose() {
        if (life == Life.OPEN) {
            life = Life.CLOSING;
            changed.signalAll();
            return true;
        }
        while (life != Life.CLOSED) {
            awaitChange();
        }
        return false;
    }

    /** Returns when {@link #changed} was signalled, or for no reason at all. Under the lock, which it lets go of. */
    void awaitChange() {
        lock.beforeWait();
        threading.await(changed);
    }

    /**
     * Waits for room, space, failure or closing, and checks that writing still makes sense. Under the lock, which it
     * lets go of.
     *
     * @throws NotWritableException when the caller may not wait, as no store thread may
     */
    void awaitRoom(boolean mayWait) {
        if (!mayWait || WorkerThread.onStoreThread()) {
            throw new NotWritableException(name);
        }
        awaitChange();
        checkWritable();
    }

    /** Signals a close that waits for readers; nothing else waits for the end of a read. Under the lock. */
    void lastReaderLeft() {
        if (life != Life.OPEN) {
            changed.signalAll();
        }
    }

    void endClose() {
        locked(() -> {
            life = Life.CLOSED;
            changed.signalAll();
        });
    }

    /** Refuses what a store thread must not do: wait for the store. */
    static void checkMayWait(String what) {
        if (WorkerThread.onStoreThread()) {
            throw new IllegalStateException(what + " would wait for the store on one of its own threads; do not call it"
                    + " from a callback, hand it to another thread");
        }
    }
}
