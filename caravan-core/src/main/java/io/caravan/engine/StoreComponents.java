package io.caravan.engine;

import io.caravan.StoreConfig;
import io.caravan.StoreFailedException;
import io.caravan.StoreIoException;
import io.caravan.StoreStats;
import io.caravan.WriteCallback;
import io.caravan.format.FileHeader;
import io.caravan.io.Storage;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The components of an open store. This class connects them, starts their threads, and closes them in order. */
final class StoreComponents {
    private static final Logger LOG = LoggerFactory.getLogger(StoreComponents.class);
    /** The maximum time for which a close waits for reads in progress. */
    private static final long READERS_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Recovered recovered;
    final StoreState state;
    final CommitQueue queue;
    final HeapSpace space;
    final Writability writability;
    final WritePath writes;
    final ReadPath reads;
    final ReplayPath replays;
    final Flusher flusher;
    final Provisioner provisioner;
    final Checkpointer checkpointer;
    final Executor futureExecutor;
    private final SerialThread futureThread;
    private final PressureWatch pressure;
    private final Worker flusherWorker;
    private final Worker checkpointerWorker;
    private final Worker provisionerWorker;

    StoreComponents(StoreConfig config, Storage storage, Recovered recovered, LongSupplier clock, Scheduler scheduler) {
        this.recovered = recovered;
        // The components wake each other's workers through these methods, because the workers are created last.
        StoreState.Wakes wakes = new StoreState.Wakes(
                this::wakeFlusher, this::wakeCheckpointer, this::wakeProvisioner, this::requireForce);
        state = new StoreState(config, storage, recovered, clock, scheduler, wakes);
        space = new HeapSpace(state, recovered.freed());
        provisioner = new Provisioner(state, space, this::logEnd, recovered);
        queue = new CommitQueue(state, provisioner, recovered.end());
        writability = new Writability(state, queue, space);
        ListChanges changes = new ListChanges(state, space);
        writes = new WritePath(state, queue, space, changes);
        replays = new ReplayPath(state, queue, changes, recovered.end().last());
        reads = new ReadPath(state, queue, space, changes);
        pressure = new PressureWatch(config);
        flusher = new Flusher(state, queue, space, writability, recovered.end(), this::afterFlush);
        checkpointer = new Checkpointer(state, queue, space, provisioner, flusher, recovered);
        String suffix = " " + config.directory().getFileName();
        flusherWorker = scheduler.worker("caravan-flusher" + suffix, flusher::step, flusher::fail);
        checkpointerWorker = scheduler.worker("caravan-checkpointer" + suffix, checkpointer::step, flusher::fail);
        provisionerWorker = scheduler.worker("caravan-provisioner" + suffix, provisioner::step, flusher::fail);
        futureThread = new SerialThread("caravan-futures" + suffix);
        futureExecutor = Objects.requireNonNullElse(config.futureExecutor(), futureThread);
    }

    /** Returns the end of the log, including records that are not sealed yet. */
    private long logEnd() {
        return queue.nextLsn();
    }

    private void wakeFlusher() {
        flusherWorker.wake();
    }

    private void wakeCheckpointer() {
        checkpointerWorker.wake();
    }

    private void wakeProvisioner() {
        provisionerWorker.wake();
    }

    private void requireForce() {
        queue.requireForce();
    }

    /** Starts the workers of a store, which may begin as a follower. */
    void start(boolean follows) {
        try {
            state.follow(follows);
            flusherWorker.start();
            checkpointerWorker.start();
            // The first append should not have to wait for segments; the replayed log may even fill its last segment.
            provisioner.step();
            if (recovered.newest().version() < FileHeader.NEWEST_VERSION) {
                // An earlier release may have left log data only in the page cache. After a checkpoint, recovery does
                // not need it.
                onCheckpointer(checkpointer::publish);
            }
            provisionerWorker.start();
        } catch (RuntimeException | Error failed) {
            stopWorkers();
            futureThread.close();
            throw failed;
        }
        LOG.info(
                "{} is open: {} lists, {} entries, {} frames replayed, {}",
                state.name(),
                state.index.listCount(),
                state.index.entryCount(),
                recovered.end().frames(),
                recovered.cases());
    }

    private void afterFlush() {
        checkpointer.logGrew();
        pressure.check(this::heapUse);
    }

    /** Runs a task on the checkpointer's thread, and waits for it. */
    void onCheckpointer(Engine.FileTask task) {
        await(checkpointer.submit(task));
    }

    /** Waits for the future, even if the thread is interrupted; see {@link DedicatedThread#join}. */
    <T> T await(CompletableFuture<T> done) {
        return DedicatedThread.join(state.name(), () -> state.scheduler.join(done));
    }

    StoreStats.HeapUse heapUse() {
        return state.locked(() -> new StoreStats.HeapUse(
                state.heapFile.fileBytes(),
                space.usedBytes(),
                state.heap.freeBytes() + space.unfilledBytes(),
                space.largestHoleBytes(),
                state.heapFile.geometry().usableBytes()));
    }

    /**
     * Requests a flush that completes the future once all writes accepted so far are durable. Called under the store's
     * lock.
     */
    void enqueueFlush(CompletableFuture<Long> done) {
        queue.add(WriteCallback.completing(done), 0, Commit.USUAL_TERMS);
        queue.requireFlush();
    }

    /**
     * Makes all accepted writes durable, publishes a checkpoint, stops the threads, and closes the files. A second call
     * waits until the first has finished.
     */
    void close() {
        CompletableFuture<Long> flushed = new CompletableFuture<>();
        StoreFailedException failedBefore = state.failure();
        boolean first = state.locked(() -> {
            boolean begun = state.beginClose();
            if (begun) {
                enqueueFlush(flushed);
            }
            return begun;
        });
        if (!first) {
            futureThread.close();
            return;
        }
        try {
            finishWork(flushed);
        } finally {
            releaseEverything();
            // An action must not have to wait for the end of this close.
            state.scheduler.doInstead(writability::runActionsOfClosed);
            state.endClose();
            futureThread.close();
        }
        StoreFailedException failure = state.failure();
        if (failure != null && failedBefore == null) {
            throw failure;
        }
    }

    private void finishWork(CompletableFuture<Long> flushed) {
        try {
            try {
                await(flushed);
            } finally {
                awaitReaders();
            }
            // The checkpoint begins with an fsync of the log, which succeeds even if the disk has no space for a
            // checkpoint.
            onCheckpointer(this::publishIfChanged);
        } catch (StoreIoException noSpace) {
            if (state.failure() == null) {
                LOG.warn(
                        "{}: closed without a last checkpoint, because the disk could not store it; the log contains all data",
                        state.name(),
                        noSpace);
            }
        } catch (StoreFailedException failed) {
            // The close method throws this exception, unless the store had failed before the close.
        }
    }

    private void publishIfChanged() throws IOException {
        if (!checkpointer.upToDate()) {
            checkpointer.publish();
        }
    }

    private void awaitReaders() {
        long deadline = state.nowNanos() + READERS_NANOS;
        state.locked(() -> DedicatedThread.awaitUninterruptibly(() -> {
            long leftNanos = deadline - state.nowNanos();
            boolean over = state.counters.pinnedReaders == 0 || leftNanos <= 0;
            if (!over) {
                state.lock.beforeWait();
                state.changed.awaitNanos(leftNanos);
            }
            return over;
        }));
    }

    private void releaseEverything() {
        stopWorkers();
        for (AutoCloseable part : List.<AutoCloseable>of(recovered, state.storage)) {
            try {
                part.close();
            } catch (Exception failed) {
                LOG.warn("{}: could not close a file", state.name(), failed);
            }
        }
        LOG.info("{} is closed", state.name());
    }

    private void stopWorkers() {
        checkpointerWorker.stop();
        checkpointer.rejectRequests();
        provisionerWorker.stop();
        flusherWorker.stop();
        flusher.awaitWriters();
    }
}
