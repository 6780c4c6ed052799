package io.caravan.engine;

import io.caravan.BackupReport;
import io.caravan.DurableListStore;
import io.caravan.EntryStream;
import io.caravan.FrameReplicator;
import io.caravan.ListInfo;
import io.caravan.Replica;
import io.caravan.StoreConfig;
import io.caravan.StoreFailedException;
import io.caravan.StoreIoException;
import io.caravan.StoreLayout;
import io.caravan.StoreStats;
import io.caravan.VerifyReport;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.io.FileStorage;
import io.caravan.io.NewDirectory;
import io.caravan.io.Storage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The durable store. Connects the components of an open store, starts their threads, and closes them in order.
 * Delegates each operation to {@link WritePath}, {@link ReadPath}, or {@link Checkpointer}.
 */
public final class Engine implements DurableListStore, Replica {
    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);
    /** The maximum time for which a close waits for reads in progress. */
    private static final long READERS_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Recovered recovered;
    final StoreState state;
    final CommitQueue queue;
    final HeapSpace space;
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

    Engine(StoreConfig config, Storage storage, Recovered recovered, LongSupplier clock, Scheduler scheduler) {
        this.recovered = recovered;
        state = new StoreState(config, storage, recovered, clock, scheduler);
        space = new HeapSpace(state, recovered.freed());
        provisioner = new Provisioner(state, space, this::logEnd, recovered);
        queue = new CommitQueue(state, provisioner, recovered.end(), recovered.bytesAfterFront());
        writes = new WritePath(state, queue, space);
        replays = new ReplayPath(state, queue, writes, recovered.end().last());
        reads = new ReadPath(state, queue, space, writes);
        pressure = new PressureWatch(config);
        flusher = new Flusher(state, queue, space, writes, recovered.end(), this::afterFlush);
        checkpointer = new Checkpointer(state, queue, space, provisioner, flusher, recovered);
        String suffix = " " + config.directory().getFileName();
        flusherWorker = scheduler.worker("caravan-flusher" + suffix, flusher::step, flusher::fail);
        checkpointerWorker = scheduler.worker("caravan-checkpointer" + suffix, checkpointer::step, flusher::fail);
        provisionerWorker = scheduler.worker("caravan-provisioner" + suffix, provisioner::step, flusher::fail);
        state.wakes = new StoreState.Wakes(
                flusherWorker::wake, checkpointerWorker::wake, provisionerWorker::wake, queue::requireForce);
        futureThread = new SerialThread("caravan-futures" + suffix);
        futureExecutor = Objects.requireNonNullElse(config.futureExecutor(), futureThread);
    }

    /** Opens or creates the store in {@code storage}, which the engine then owns. */
    public static Engine open(StoreConfig config, Storage storage, LongSupplier clock) throws IOException {
        return open(config, storage, clock, Scheduler.THREADS);
    }

    /** Opens or creates the store in {@code storage}. The scheduler creates the threads and performs the waits. */
    public static Engine open(StoreConfig config, Storage storage, LongSupplier clock, Scheduler scheduler)
            throws IOException {
        return open(config, storage, clock, scheduler, OptionalLong.empty(), OptionalLong.empty());
    }

    /**
     * Opens or creates a replica of the store with this id. The replica is a follower until {@link #lead} is called.
     *
     * @param fsyncedLsn the position up to which the replica's log was fsynced; a power failure may have left a gap
     *     after this position
     */
    public static Engine openReplica(
            StoreConfig config, Storage storage, LongSupplier clock, Scheduler scheduler, long storeId, long fsyncedLsn)
            throws IOException {
        return open(config, storage, clock, scheduler, OptionalLong.of(storeId), OptionalLong.of(fsyncedLsn));
    }

    private static Engine open(
            StoreConfig config,
            Storage storage,
            LongSupplier clock,
            Scheduler scheduler,
            OptionalLong replicaOf,
            OptionalLong fsyncedLsn)
            throws IOException {
        try {
            Recovered recovered = Recovery.open(storage, config, replicaOf, fsyncedLsn, scheduler::newStoreId);
            try {
                Engine engine = new Engine(config, storage, recovered, clock, scheduler);
                engine.start(replicaOf.isPresent());
                return engine;
            } catch (RuntimeException | Error failed) {
                recovered.close();
                throw failed;
            }
        } catch (IOException | RuntimeException | Error failed) {
            storage.close();
            throw failed;
        }
    }

    /** Returns the end of the log, including records that are not sealed yet. */
    private long logEnd() {
        return queue.nextLsn();
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
    void onCheckpointer(FileTask task) {
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

    @Override
    public void append(long id, byte[] value, WriteCallback callback) {
        writes.append(id, value, Commit.USUAL_TERMS, Objects.requireNonNull(callback, "callback"), true);
    }

    @Override
    public void append(long id, ByteBuffer value, WriteCallback callback) {
        writes.append(id, value, Objects.requireNonNull(callback, "callback"));
    }

    @Override
    public void write(WriteBatch batch, WriteCallback callback) {
        writes.write(batch, Objects.requireNonNull(callback, "callback"), true);
    }

    @Override
    public boolean tryWrite(WriteBatch batch, WriteCallback callback) {
        return writes.tryWrite(batch, Objects.requireNonNull(callback, "callback"));
    }

    @Override
    public void get(long id, EntryStream stream) {
        reads.get(id, ReadPath.FROM_FIRST, Long.MAX_VALUE, false, Objects.requireNonNull(stream, "stream"));
    }

    @Override
    public void get(long id, long fromSequence, EntryStream stream) {
        long from = notNegative(fromSequence, "fromSequence");
        reads.get(id, from, Long.MAX_VALUE, false, Objects.requireNonNull(stream, "stream"));
    }

    @Override
    public void getNewestFirst(long id, long beforeSequence, EntryStream stream) {
        long before = notNegative(beforeSequence, "beforeSequence");
        reads.get(id, ReadPath.FROM_FIRST, before, true, Objects.requireNonNull(stream, "stream"));
    }

    @Override
    public void trim(long id, long count, WriteCallback callback) {
        writes.trim(id, notNegative(count, "count"), Objects.requireNonNull(callback, "callback"));
    }

    @Override
    public void trimTo(long id, long firstSequence, WriteCallback callback) {
        writes.trimTo(id, notNegative(firstSequence, "firstSequence"), Objects.requireNonNull(callback, "callback"));
    }

    private static long notNegative(long value, String name) {
        if (value < 0) {
            throw new IllegalArgumentException(name + " must be zero or more, was " + value);
        }
        return value;
    }

    @Override
    public void delete(long id, WriteCallback callback) {
        writes.delete(id, Objects.requireNonNull(callback, "callback"));
    }

    @Override
    public @Nullable ListInfo info(long id) {
        return reads.info(id);
    }

    @Override
    public @Nullable ListInfo accepted(long id) {
        return reads.accepted(id);
    }

    @Override
    public void acceptedLengths(long id, IntPredicate more) {
        reads.acceptedLengths(id, Objects.requireNonNull(more, "more"));
    }

    @Override
    public void forEachList(LongConsumer ids) {
        reads.forEachList(Objects.requireNonNull(ids, "ids"));
    }

    @Override
    public WriteGroup group() {
        return flusher.openGroup();
    }

    @Override
    public boolean writable() {
        return writes.writable();
    }

    @Override
    public void onWritable(Runnable action) {
        writes.onWritable(Objects.requireNonNull(action, "action"));
    }

    @Override
    public Executor futureExecutor() {
        return futureExecutor;
    }

    @Override
    public void flush() {
        StoreState.checkMayWait("flush");
        CompletableFuture<Long> done = new CompletableFuture<>();
        state.locked(() -> {
            state.checkWritable();
            queue.flush(WriteCallback.completing(done));
        });
        await(done);
    }

    @Override
    public void checkpoint() {
        StoreState.checkMayWait("checkpoint");
        state.checkWritable();
        onCheckpointer(checkpointer::publish);
    }

    /** A task that uses the store's files and runs on the checkpointer's thread. */
    @FunctionalInterface
    public interface FileTask {
        void run() throws IOException;
    }

    @Override
    public DurableListStore store() {
        return this;
    }

    @Override
    public long position() {
        return state.locked(() -> queue.position());
    }

    @Override
    public boolean replay(ByteBuffer frame) {
        return replays.replay(frame);
    }

    @Override
    public int logSegmentBytes() {
        return state.geometry.segmentBytes();
    }

    @Override
    public void lead(FrameReplicator group) {
        Objects.requireNonNull(group, "group");
        flush();
        flusher.commitTo(group);
        state.follow(false);
    }

    @Override
    public long fsync() {
        StoreState.checkMayWait("fsync");
        onCheckpointer(flusher::forceLog);
        return fsyncedPosition();
    }

    @Override
    public long fsyncedPosition() {
        return state.forced.position();
    }

    @Override
    public BackupReport send(Chunks chunks, BackupReport.Progress progress) {
        StoreState.checkMayWait("send");
        return DedicatedThread.call("send a replica's files", () -> backup(chunks, progress));
    }

    /** Whether this thread is a store thread, or does the work of a store thread. */
    public static boolean onStoreThread() {
        return WorkerThread.onStoreThread();
    }

    @Override
    public VerifyReport verify(VerifyReport.Progress progress) {
        return new OpenVerification(this, progress).run();
    }

    @Override
    public BackupReport backup(Path target, BackupReport.Progress progress) {
        StoreState.checkMayWait("backup");
        return DedicatedThread.call("back up to " + target, () -> {
            FileStorage.requireOutside(target, state.config.directory());
            try (NewDirectory directory = NewDirectory.begin(target, FileNames::isOurs)) {
                BackupReport report = backup(directory.storage(), progress);
                directory.publish();
                return report;
            }
        });
    }

    /** Copies the open store to an empty directory. */
    public BackupReport backup(Storage target, BackupReport.Progress progress) throws IOException {
        ChunkFiles copy = new ChunkFiles(target);
        BackupReport report = backup(copy, progress);
        copy.finish();
        return report;
    }

    private BackupReport backup(Chunks target, BackupReport.Progress progress) throws IOException {
        StoreState.checkMayWait("backup");
        state.checkWritable();
        return new Backup(this, target, progress).run();
    }

    @Override
    public StoreStats stats() {
        return state.locked(() -> {
            Counters c = state.counters;
            return new StoreStats(
                    state.name(),
                    c.documents.appends,
                    c.documents.appendedBytes,
                    c.documents.trims,
                    c.documents.deletes,
                    c.bookkeeping.appends + c.bookkeeping.trims + c.bookkeeping.deletes,
                    c.rejections,
                    c.failures,
                    c.fsyncs,
                    c.logBytes,
                    c.flushRecords.read(),
                    c.fsyncNanos.read(),
                    c.ackNanos.read(),
                    c.recentAckNanos.read(state.nowNanos()),
                    state.index.listCount(),
                    state.index.valueCount(),
                    heapUse(),
                    checkpointer.logBytesSince(),
                    c.checkpoints,
                    c.lastCheckpointNanos,
                    c.pinnedReaders,
                    state.lock.heldNanos());
        });
    }

    @Override
    public StoreLayout layout() {
        return new LayoutSurvey(state, space).run(provisioner, checkpointer);
    }

    /**
     * Makes all accepted writes durable, publishes a checkpoint, stops the threads, and closes the files. A second call
     * waits until the first has finished.
     */
    @Override
    public void close() {
        StoreState.checkMayWait("close");
        CompletableFuture<Long> flushed = new CompletableFuture<>();
        StoreFailedException failedBefore = state.failure();
        boolean first = state.locked(() -> {
            boolean begun = state.beginClose();
            if (begun) {
                queue.flush(WriteCallback.completing(flushed));
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
            try {
                releaseEverything();
            } finally {
                // An action must not have to wait for the end of this close.
                state.scheduler.doInstead(() -> writes.runActions(true));
                state.endClose();
                futureThread.close();
            }
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
            onCheckpointer(checkpointer::publishIfChanged);
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
        try (state.storage;
                recovered) {
            stopWorkers();
        } catch (IOException | RuntimeException failed) {
            LOG.warn("{}: could not stop a thread or close a file", state.name(), failed);
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
