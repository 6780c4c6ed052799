package io.caravan.engine;

import io.caravan.BackupReport;
import io.caravan.DurableListStore;
import io.caravan.EntryStream;
import io.caravan.FrameReplicator;
import io.caravan.ListInfo;
import io.caravan.Replica;
import io.caravan.StoreConfig;
import io.caravan.StoreLayout;
import io.caravan.StoreStats;
import io.caravan.VerifyReport;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.format.FileNames;
import io.caravan.io.FileTarget;
import io.caravan.io.NewDirectory;
import io.caravan.io.Storage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The durable store. Delegates each operation to {@link WritePath}, {@link ReadPath}, or {@link Checkpointer}. */
public final class Engine implements DurableListStore, Replica {
    final StoreComponents parts;
    private final StoreState state;
    private final WritePath writes;
    private final ReadPath reads;

    private Engine(StoreComponents parts) {
        this.parts = parts;
        this.state = parts.state;
        this.writes = parts.writes;
        this.reads = parts.reads;
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
            Recovered recovered =
                    new StoreOpening(storage, config).recoverOrCreate(replicaOf, fsyncedLsn, scheduler::newStoreId);
            try {
                StoreComponents parts = new StoreComponents(config, storage, recovered, clock, scheduler);
                parts.start(replicaOf.isPresent());
                return new Engine(parts);
            } catch (RuntimeException | Error failed) {
                recovered.close();
                throw failed;
            }
        } catch (IOException | RuntimeException | Error failed) {
            storage.close();
            throw failed;
        }
    }

    @Override
    public void append(long id, byte[] value, WriteCallback callback) {
        writes.append(id, value, Objects.requireNonNull(callback, "callback"));
    }

    @Override
    public void append(long id, ByteBuffer value, WriteCallback callback) {
        writes.append(id, value, Objects.requireNonNull(callback, "callback"));
    }

    @Override
    public void write(WriteBatch batch, WriteCallback callback) {
        writes.write(batch, Objects.requireNonNull(callback, "callback"));
    }

    @Override
    public boolean tryWrite(WriteBatch batch, WriteCallback callback) {
        return writes.tryWrite(batch, Objects.requireNonNull(callback, "callback"));
    }

    @Override
    public void get(long id, EntryStream stream) {
        reads.get(id, ReadPath.FROM_FIRST, Objects.requireNonNull(stream, "stream"));
    }

    @Override
    public void get(long id, long fromSequence, EntryStream stream) {
        reads.get(id, notNegative(fromSequence, "fromSequence"), Objects.requireNonNull(stream, "stream"));
    }

    @Override
    public void getNewestFirst(long id, long beforeSequence, EntryStream stream) {
        reads.getNewestFirst(
                id, notNegative(beforeSequence, "beforeSequence"), Objects.requireNonNull(stream, "stream"));
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
        return parts.flusher.openGroup();
    }

    @Override
    public boolean writable() {
        return parts.writability.writable();
    }

    @Override
    public void onWritable(Runnable action) {
        parts.writability.onWritable(Objects.requireNonNull(action, "action"));
    }

    @Override
    public Executor futureExecutor() {
        return parts.futureExecutor;
    }

    @Override
    public void flush() {
        StoreState.checkMayWait("flush");
        CompletableFuture<Long> done = new CompletableFuture<>();
        state.locked(() -> {
            state.checkWritable();
            parts.enqueueFlush(done);
        });
        parts.await(done);
    }

    @Override
    public void checkpoint() {
        StoreState.checkMayWait("checkpoint");
        state.checkWritable();
        parts.onCheckpointer(parts.checkpointer::publish);
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
        return state.locked(() -> parts.queue.position());
    }

    @Override
    public boolean replay(ByteBuffer frame) {
        return parts.replays.replay(frame);
    }

    @Override
    public int logSegmentBytes() {
        return state.geometry.segmentBytes();
    }

    @Override
    public void lead(FrameReplicator group) {
        Objects.requireNonNull(group, "group");
        flush();
        parts.flusher.commitTo(group);
        state.follow(false);
    }

    @Override
    public long fsync() {
        StoreState.checkMayWait("fsync");
        parts.onCheckpointer(parts.flusher::forceLog);
        return fsyncedPosition();
    }

    @Override
    public long fsyncedPosition() {
        return state.forced.position();
    }

    @Override
    public BackupReport send(Chunks chunks, BackupReport.Progress progress) {
        StoreState.checkMayWait("send");
        return DedicatedThread.call("send a replica's files", () -> backup(new ChunkStorage(chunks), progress));
    }

    /** Whether this thread is a store thread, or does the work of a store thread. */
    public static boolean onStoreThread() {
        return WorkerThread.onStoreThread();
    }

    @Override
    public VerifyReport verify(VerifyReport.Progress progress) {
        return new OpenVerification(this, parts, progress).run();
    }

    @Override
    public BackupReport backup(Path target, BackupReport.Progress progress) {
        StoreState.checkMayWait("backup");
        return DedicatedThread.call("back up to " + target, () -> {
            try (NewDirectory directory = NewDirectory.begin(target, FileNames::isOurs)) {
                BackupReport report = backup(directory.storage(), progress);
                directory.publish();
                return report;
            }
        });
    }

    /** Copies the open store to an empty directory; see {@link Backup}. */
    public BackupReport backup(FileTarget target, BackupReport.Progress progress) throws IOException {
        StoreState.checkMayWait("backup");
        state.checkWritable();
        return new Backup(parts, target, progress).run();
    }

    @Override
    public StoreStats stats() {
        state.lock.lock();
        try {
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
                    parts.heapUse(),
                    parts.checkpointer.logBytesSince(),
                    c.checkpoints,
                    c.lastCheckpointNanos,
                    c.pinnedReaders,
                    state.lock.heldNanos());
        } finally {
            state.lock.unlock();
        }
    }

    @Override
    public StoreLayout layout() {
        return new LayoutSurvey(state, parts.space).run(parts.provisioner, parts.checkpointer);
    }

    @Override
    public void close() {
        StoreState.checkMayWait("close");
        parts.close();
    }
}
