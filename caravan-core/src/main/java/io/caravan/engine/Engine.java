package io.caravan.engine;

import io.caravan.CaravanException;
import io.caravan.EntryStream;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.StoreIoException;
import io.caravan.StoreStats;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.io.Storage;
import io.caravan.wal.LogWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The durable store: wires the parts together, starts their threads, and closes them in order. Each operation is one
 * call into {@link WritePath}, {@link ReadPath} or {@link Checkpointer}.
 */
public final class Engine implements ListStore {
    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);
    /** How long closing waits for reads that are under way. */
    private static final long READERS_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Storage storage;
    private final Recovered recovered;
    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;
    private final WritePath writes;
    private final ReadPath reads;
    private final Provisioner provisioner;
    private final Checkpointer checkpointer;
    private final LsnGate forced;
    private final PressureWatch pressure;
    private final Worker flusherWorker;
    private final Worker checkpointerWorker;
    private final Worker provisionerWorker;

    private Engine(StoreConfig config, Storage storage, Recovered recovered, LongSupplier clock) {
        this.storage = storage;
        this.recovered = recovered;
        CheckpointHeader newest = recovered.newest();
        var logGeometry = recovered.log().geometry();
        var end = recovered.end();
        state = new StoreState(
                "store " + config.directory() + " (" + config.durability() + ")", recovered.index(), recovered.heap());
        provisioner = new Provisioner(
                state,
                recovered.log(),
                recovered.heapFile(),
                logGeometry.segmentOf(end.position()),
                recovered.neededLogSegment());
        queue = new CommitQueue(state, provisioner, logGeometry, config.logBufferBytes(), end, clock);
        Flusher.Gates gates = new Flusher.Gates(new LsnGate(newest.startLsn()), new LsnGate(end.position()));
        forced = gates.forced();
        space = new HeapSpace(
                state,
                queue,
                provisioner,
                gates.forced(),
                recovered.heapFile().geometry(),
                recovered.heapFile().segmentCount(),
                config.maxHeapBytes());
        writes = new WritePath(state, queue, space, config.maxValueBytes());
        reads = new ReadPath(state, queue, space, writes, recovered.heapFile(), gates.applied());
        pressure = new PressureWatch(config);
        Flusher flusher = new Flusher(
                state,
                queue,
                space,
                new LogWriter(recovered.log(), newest.storeId(), newest.startLsn(), end),
                recovered.heapFile(),
                gates,
                config.durability(),
                new FlushDelay(config.flushPolicy()),
                new PreciseSleeper(clock, Runtime.getRuntime().availableProcessors()),
                clock,
                this::afterFlush);
        checkpointer = new Checkpointer(
                state,
                queue,
                space,
                provisioner,
                recovered.heapFile(),
                storage,
                logGeometry,
                gates,
                recovered,
                config.checkpointFloorBytes(),
                config.checkpointFraction(),
                flusher::fail,
                clock);
        String suffix = " " + config.directory().getFileName();
        flusherWorker = new Worker("caravan-flusher" + suffix, flusher::step, flusher::fail);
        checkpointerWorker = new Worker("caravan-checkpointer" + suffix, checkpointer::step, flusher::fail);
        provisionerWorker = new Worker("caravan-provisioner" + suffix, provisioner::step, flusher::fail);
        queue.onWork(flusherWorker::wake);
        checkpointer.onWork(checkpointerWorker::wake);
        provisioner.serve(space, provisionerWorker::wake, flusherWorker::wake);
    }

    /** Opens or creates the store that the storage holds; the engine owns the storage from here on. */
    public static Engine open(StoreConfig config, Storage storage, LongSupplier clock) throws IOException {
        try {
            Engine engine = recover(config, storage, clock);
            try {
                engine.start();
                return engine;
            } catch (RuntimeException failed) {
                engine.stopWorkers();
                engine.recovered.close();
                throw failed;
            }
        } catch (IOException | RuntimeException failed) {
            storage.close();
            throw failed;
        }
    }

    private static Engine recover(StoreConfig config, Storage storage, LongSupplier clock) throws IOException {
        Recovery recovery = new Recovery(storage, false);
        if (recovery.nothingToOpen()) {
            recovery.tidyNothing();
            StoreFactory.create(storage, config);
            recovery = new Recovery(storage, false);
        }
        Recovered recovered = recovery.recover();
        try {
            StoreFactory.checkFits(config, recovered.newest());
            recovery.rewriteHeap(recovered);
            recovery.tidy(recovered);
            return new Engine(config, storage, recovered, clock);
        } catch (IOException | RuntimeException failed) {
            recovered.close();
            throw failed;
        }
    }

    private void start() {
        flusherWorker.start();
        checkpointerWorker.start();
        if (recovered.end().frames() > 0) {
            settleReplayed();
        }
        provisionerWorker.start();
        LOG.info(
                "{} is open: {} lists, {} entries, {} frames replayed, {}",
                state.name(),
                state.index.listCount(),
                state.index.entryCount(),
                recovered.end().frames(),
                recovered.cases());
    }

    /**
     * What was replayed is made durable before anybody can see it: the frames were in the log's files, but a process that
     * died before its force may have left them in the operating system's memory only. The checkpoint makes it independent
     * of those log bytes; a disk too full for one keeps nobody from opening, as the forced log has everything.
     */
    private void settleReplayed() {
        // The log may end where its last segment does, and the checkpoint's replay starts in the next.
        provisioner.step();
        checkpoint(checkpointer::forceLog);
        try {
            checkpoint(checkpointer::publish);
        } catch (StoreIoException noSpace) {
            if (state.failure() != null) {
                throw noSpace;
            }
            LOG.warn("{}: no checkpoint of what was replayed; the log has everything", state.name(), noSpace);
        }
    }

    private void afterFlush() {
        checkpointer.logGrew();
        if (pressure.watches()) {
            pressure.look(heapUse());
        }
    }

    @Override
    public void append(long id, byte[] value, WriteCallback callback) {
        append(id, ByteBuffer.wrap(value), callback);
    }

    @Override
    public void append(long id, ByteBuffer value, WriteCallback callback) {
        Objects.requireNonNull(callback, "callback");
        writes.append(id, value, callback);
    }

    @Override
    public void write(WriteBatch batch, WriteCallback callback) {
        Objects.requireNonNull(callback, "callback");
        writes.write(batch, callback);
    }

    @Override
    public void get(long id, EntryStream stream) {
        Objects.requireNonNull(stream, "stream");
        reads.get(id, ReadPath.FROM_FIRST, stream);
    }

    @Override
    public void get(long id, long fromSequence, EntryStream stream) {
        Objects.requireNonNull(stream, "stream");
        reads.get(id, notNegative(fromSequence, "fromSequence"), stream);
    }

    @Override
    public void trim(long id, long count, WriteCallback callback) {
        Objects.requireNonNull(callback, "callback");
        writes.trim(id, notNegative(count, "count"), callback);
    }

    @Override
    public void trimTo(long id, long firstSequence, WriteCallback callback) {
        Objects.requireNonNull(callback, "callback");
        writes.trimTo(id, notNegative(firstSequence, "firstSequence"), callback);
    }

    private static long notNegative(long value, String name) {
        if (value < 0) {
            throw new IllegalArgumentException(name + " must be zero or more, was " + value);
        }
        return value;
    }

    @Override
    public void delete(long id, WriteCallback callback) {
        Objects.requireNonNull(callback, "callback");
        writes.delete(id, callback);
    }

    @Override
    public @Nullable ListInfo info(long id) {
        return reads.info(id);
    }

    @Override
    public void forEachList(LongConsumer ids) {
        Objects.requireNonNull(ids, "ids");
        reads.forEachList(ids);
    }

    @Override
    public boolean writable() {
        state.lock.lock();
        try {
            state.checkOpen();
            return writableNow();
        } finally {
            state.lock.unlock();
        }
    }

    private boolean writableNow() {
        return state.failure() != null || queue.writable() && space.writable();
    }

    @Override
    public void onWritable(Runnable action) {
        Objects.requireNonNull(action, "action");
        state.lock.lock();
        try {
            state.checkOpen();
            if (!writableNow()) {
                queue.whenWritable(action);
                return;
            }
        } finally {
            state.lock.unlock();
        }
        action.run();
    }

    @Override
    public void flush() {
        StoreState.checkMayWait("flush");
        CompletableFuture<Long> done = new CompletableFuture<>();
        state.lock.lock();
        try {
            state.checkWritable();
            enqueueFlush(done);
        } finally {
            state.lock.unlock();
        }
        await(done);
    }

    private void enqueueFlush(CompletableFuture<Long> done) {
        queue.add(WriteCallback.completing(done), 0);
        queue.requireFlush();
    }

    @Override
    public void checkpoint() {
        StoreState.checkMayWait("checkpoint");
        state.checkWritable();
        checkpoint(checkpointer::publish);
    }

    private void checkpoint(FileTask task) {
        await(checkpointer.submit(task));
    }

    /** Waits, whatever interrupts; problems come out as they are. */
    private <T> T await(CompletableFuture<T> done) {
        try {
            return done.join();
        } catch (java.util.concurrent.CompletionException failed) {
            Throwable cause = failed.getCause();
            if (cause instanceof CaravanException problem) {
                throw problem;
            }
            throw new StoreIoException(state.name() + ": " + cause, cause == null ? failed : cause);
        }
    }

    /** Runs a task on the checkpointer's thread, where no file is recycled or replaced meanwhile. */
    public void whileFilesStay(FileTask task) {
        state.checkWritable();
        await(checkpointer.submit(task));
    }

    @Override
    public StoreStats stats() {
        state.lock.lock();
        try {
            Counters c = state.counters;
            return new StoreStats(
                    state.name(),
                    c.appends,
                    c.appendedBytes,
                    c.trims,
                    c.deletes,
                    c.refusals,
                    c.failures,
                    c.forces,
                    c.logBytes,
                    c.batchRecords.read(),
                    c.forceNanos.read(),
                    c.ackNanos.read(),
                    state.index.listCount(),
                    heapUse(),
                    checkpointer.logBytesSince(),
                    c.checkpoints,
                    c.lastCheckpointNanos,
                    c.pinnedReaders);
        } finally {
            state.lock.unlock();
        }
    }

    private StoreStats.HeapUse heapUse() {
        state.lock.lock();
        try {
            return new StoreStats.HeapUse(
                    recovered.heapFile().diskBytes(),
                    state.heap.usedBytes(),
                    state.heap.freeBytes(),
                    state.heap.largestHoleBytes(),
                    recovered.heapFile().geometry().usableBytes());
        } finally {
            state.lock.unlock();
        }
    }

    @Override
    public void close() {
        StoreState.checkMayWait("close");
        CompletableFuture<Long> flushed = new CompletableFuture<>();
        state.lock.lock();
        try {
            if (!state.beginClose()) {
                return;
            }
            enqueueFlush(flushed);
        } finally {
            state.lock.unlock();
        }
        try {
            finishWork(flushed);
        } finally {
            releaseEverything();
            state.endClose();
            runWritableActions();
        }
    }

    private void finishWork(CompletableFuture<Long> flushed) {
        try {
            await(flushed);
            awaitReaders();
            checkpoint(this::publishIfChanged);
        } catch (CaravanException problem) {
            if (state.failure() == null) {
                LOG.warn("{}: closed without a last checkpoint; the log has everything", state.name(), problem);
            }
        }
    }

    private void publishIfChanged() throws IOException {
        if (!checkpointer.upToDate()) {
            checkpointer.publish();
        }
    }

    /** Whoever still waits for writability now finds the store closed. */
    private void runWritableActions() {
        List<Runnable> actions;
        state.lock.lock();
        try {
            actions = queue.takeWritableActions();
        } finally {
            state.lock.unlock();
        }
        actions.forEach(action -> Guarded.run("An action that waited for writability", action));
    }

    private void awaitReaders() {
        state.lock.lock();
        try {
            long deadline = System.nanoTime() + READERS_NANOS;
            boolean interrupted = false;
            while (state.counters.pinnedReaders > 0 && deadline - System.nanoTime() > 0) {
                try {
                    state.changed.awaitNanos(deadline - System.nanoTime());
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        } finally {
            state.lock.unlock();
        }
    }

    private void releaseEverything() {
        stopWorkers();
        for (AutoCloseable part : List.<AutoCloseable>of(recovered, storage)) {
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
        checkpointer.refuseRequests();
        provisionerWorker.stop();
        flusherWorker.stop();
    }

    /** For the tools that look into an open store: its files. */
    public Storage storage() {
        return storage;
    }

    /** Numbers of the checkpoints kept, oldest first; on the checkpointer's thread. */
    public List<Long> checkpointNumbers() {
        return checkpointer.kept();
    }

    /** Up to where the log is forced. */
    public long forcedLsn() {
        return forced.position();
    }
}
