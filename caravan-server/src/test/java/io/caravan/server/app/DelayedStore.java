package io.caravan.server.app;

import io.caravan.CaravanException;
import io.caravan.EntryStream;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.testing.ForwardingListStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A store that can delay the outcomes of writes, and can pretend to have no space for writes. */
public final class DelayedStore extends ForwardingListStore {
    private final List<Runnable> held = new ArrayList<>();
    private final List<Runnable> awaitingSpace = new ArrayList<>();
    private boolean holding;
    private boolean noSpace;
    private boolean rejectsTry;
    /** The size from which values find no space. */
    private int largeBytes = Integer.MAX_VALUE;

    private int largeTries;
    private int accepted;
    private final AtomicInteger reads = new AtomicInteger();

    public DelayedStore(ListStore store) {
        super(store);
    }

    @Override
    public void write(WriteBatch batch, WriteCallback callback) {
        awaitSpace(batch);
        AtomicBoolean counted = new AtomicBoolean();
        super.write(batch, new WriteCallback() {
            @Override
            public void success(long sequence) {
                count(counted);
                tell(() -> callback.success(sequence));
            }

            @Override
            public void failure(CaravanException problem) {
                tell(() -> callback.failure(problem));
            }
        });
        count(counted);
    }

    @Override
    public boolean tryWrite(WriteBatch batch, WriteCallback callback) {
        synchronized (this) {
            if (rejectsTry) {
                rejectsTry = false;
                return false;
            }
            if (isLarge(batch)) {
                largeTries++;
                return false;
            }
        }
        return super.tryWrite(batch, callback);
    }

    private boolean isLarge(WriteBatch batch) {
        return batch.operations().stream()
                .anyMatch(operation ->
                        operation instanceof WriteBatch.Append append && append.value().length >= largeBytes);
    }

    private synchronized void awaitSpace(WriteBatch batch) {
        try {
            while (isLarge(batch)) {
                wait();
            }
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    /** Pretends to have no space for writes with values of at least this size. */
    public synchronized void takeSpaceOf(int bytes) {
        largeBytes = bytes;
    }

    /** Returns how many nonblocking writes failed because of {@link #takeSpaceOf}. */
    public synchronized int largeTries() {
        return largeTries;
    }

    /** Makes the next nonblocking write fail for lack of space, although the store has space. */
    public synchronized void rejectNextTry() {
        rejectsTry = true;
    }

    /** Counts a write once: when the store accepts it or when its outcome arrives, whichever comes first. */
    private void count(AtomicBoolean counted) {
        if (counted.compareAndSet(false, true)) {
            synchronized (this) {
                accepted++;
                notifyAll();
            }
        }
    }

    @Override
    public void get(long id, long fromSequence, EntryStream stream) {
        reads.incrementAndGet();
        super.get(id, fromSequence, stream);
    }

    /** Returns the number of reads that the store has received. */
    public int reads() {
        return reads.get();
    }

    private void tell(Runnable callback) {
        synchronized (this) {
            if (holding) {
                held.add(callback);
                return;
            }
        }
        callback.run();
    }

    public synchronized void hold() {
        holding = true;
    }

    public void release() {
        List<Runnable> all;
        synchronized (this) {
            holding = false;
            all = List.copyOf(held);
            held.clear();
        }
        all.forEach(Runnable::run);
    }

    /** Waits until the total number of accepted writes is at least {@code writes}. */
    public synchronized void awaitAccepted(int writes) throws InterruptedException {
        while (accepted < writes) {
            wait();
        }
    }

    public synchronized int accepted() {
        return accepted;
    }

    public synchronized void takeSpace() {
        noSpace = true;
    }

    public void freeSpace() {
        List<Runnable> all;
        synchronized (this) {
            noSpace = false;
            largeBytes = Integer.MAX_VALUE;
            notifyAll();
            all = List.copyOf(awaitingSpace);
            awaitingSpace.clear();
        }
        all.forEach(Runnable::run);
    }

    /** Waits until a writer is waiting for space in the store. */
    public void awaitWaiter() throws InterruptedException {
        awaitWaiters(1);
    }

    /** Waits until this many writers are waiting for space in the store. */
    public synchronized void awaitWaiters(int count) throws InterruptedException {
        while (awaitingSpace.size() < count) {
            wait();
        }
    }

    @Override
    public synchronized boolean writable() {
        return !noSpace;
    }

    @Override
    public void onWritable(Runnable action) {
        synchronized (this) {
            if (noSpace) {
                awaitingSpace.add(action);
                notifyAll();
                return;
            }
        }
        action.run();
    }

    /** Waits until the delayed writes are released, as a flush waits until writes are durable. */
    @Override
    public void flush() {
        CompletableFuture<Void> released = new CompletableFuture<>();
        tell(() -> released.complete(null));
        released.join();
    }
}
