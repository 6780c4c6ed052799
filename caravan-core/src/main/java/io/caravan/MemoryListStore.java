package io.caravan;

import io.caravan.engine.SerialThread;
import io.caravan.format.EntryLayout;
import io.caravan.format.RecordLayout;
import io.caravan.heap.HeapGeometry;
import io.caravan.wal.LogGeometry;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;
import java.util.function.LongConsumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The contract of {@link ListStore} in memory, for tests and caches: nothing is kept, and nothing can fail.
 *
 * <p>It refuses what a durable store of the same {@link StoreConfig} refuses: values and batches that are too large,
 * appends that its heap has no space for, expectations that do not hold, reads on a store thread, calls of a closed
 * store. It has no disk, so none fills up or fails; it has no log buffers, so it is always writable; and its heap has
 * no holes, so it takes a little more than a fragmented one.
 *
 * <p>One lock guards all lists. A write is performed under it and is as durable as it will ever be, so its callback is
 * queued at once, under the same lock: the order of acceptance. A read copies the list's references under the lock and
 * streams outside it.
 */
public final class MemoryListStore implements ListStore {
    private static final String NAME = "memory";
    private static final Path NOWHERE = Path.of(NAME);

    private final int maxValueBytes;
    private final int maxBatchBytes;
    private final long maxHeapBytes;
    private final CallbackThread callbacks = new CallbackThread(NAME);
    private final SerialThread futureThread = new SerialThread("caravan-" + NAME + "-futures");
    private final Executor futureExecutor;
    private final Object lock = new Object();

    // Guarded by lock.
    private final Map<Long, MemoryList> lists = new HashMap<>();
    private @Nullable CompletableFuture<Void> closed;
    private long heapBytes;
    private long appends;
    private long appendedBytes;
    private long trims;
    private long deletes;
    private long refusals;
    private long readers;

    /** A store with the limits that a durable one has by default. */
    public MemoryListStore() {
        this(StoreConfig.builder(NOWHERE).build());
    }

    /**
     * A store with another limit for values, see {@link StoreConfig.Builder#maxValueBytes}.
     *
     * @param maxValueBytes greatest length of one value, in bytes
     */
    public MemoryListStore(int maxValueBytes) {
        this(StoreConfig.builder(NOWHERE).maxValueBytes(maxValueBytes).build());
    }

    /**
     * A store with the limits of a durable one that has this config, for tests of what is to run on that one. The
     * directory is not touched; what is said of durability, flushes, checkpoints and heap pressure is left out of account.
     */
    public MemoryListStore(StoreConfig config) {
        maxValueBytes = config.maxValueBytes();
        maxBatchBytes = new LogGeometry(config.logSegmentBytes()).maxRecordBytes(config.logBufferBytes());
        long segments = config.maxHeapBytes() / config.heapSegmentBytes();
        maxHeapBytes = segments * new HeapGeometry(config.heapSegmentBytes()).usableBytes();
        futureExecutor = Objects.requireNonNullElse(config.futureExecutor(), futureThread);
    }

    @Override
    public void append(long id, byte[] value, WriteCallback callback) {
        append(id, ByteBuffer.wrap(Objects.requireNonNull(value, "value")), callback);
    }

    @Override
    public void append(long id, ByteBuffer value, WriteCallback callback) {
        Objects.requireNonNull(value, "value");
        Objects.requireNonNull(callback, "callback");
        synchronized (lock) {
            checkTakesWrites();
            checkLength(value.remaining());
            checkSpace(EntryLayout.entryBytes(value.remaining()));
            callbacks.success(callback, keep(id, copyOf(value)));
        }
    }

    private static byte[] copyOf(ByteBuffer value) {
        byte[] copy = new byte[value.remaining()];
        value.get(value.position(), copy);
        return copy;
    }

    private long keep(long id, byte[] copy) {
        appends++;
        appendedBytes += copy.length;
        heapBytes += EntryLayout.entryBytes(copy.length);
        return lists.computeIfAbsent(id, missing -> new MemoryList()).append(copy);
    }

    @Override
    public void write(WriteBatch batch, WriteCallback callback) {
        Objects.requireNonNull(batch, "batch");
        Objects.requireNonNull(callback, "callback");
        synchronized (lock) {
            checkTakesWrites();
            checkSizes(batch);
            batch.expectations().forEach(this::checkHolds);
            callbacks.success(callback, perform(batch));
        }
    }

    @Override
    public boolean tryWrite(WriteBatch batch, WriteCallback callback) {
        write(batch, callback);
        return true;
    }

    private void checkSizes(WriteBatch batch) {
        long recordBytes = 0;
        long neededBytes = 0;
        for (WriteBatch.Operation operation : batch.operations()) {
            if (operation instanceof WriteBatch.Append append) {
                int length = append.value().length;
                checkLength(length);
                recordBytes += RecordLayout.appendBytes(length);
                neededBytes += EntryLayout.entryBytes(length);
            } else {
                recordBytes +=
                        operation instanceof WriteBatch.Trim ? RecordLayout.TRIM_BYTES : RecordLayout.DELETE_BYTES;
            }
        }
        if (recordBytes > maxBatchBytes) {
            throw refused(new ValueTooLargeException("a batch", recordBytes, maxBatchBytes));
        }
        checkSpace(neededBytes);
    }

    private void checkHolds(WriteBatch.Expectation expectation) {
        MemoryList list = lists.get(expectation.id());
        long actual = list == null ? 0 : list.nextSequence();
        if (actual != expectation.nextSequence()) {
            throw refused(new SequenceConflictException(expectation.id(), expectation.nextSequence(), actual));
        }
    }

    private long perform(WriteBatch batch) {
        long lastAppended = -1;
        for (WriteBatch.Operation operation : batch.operations()) {
            if (operation instanceof WriteBatch.Append append) {
                lastAppended = keep(append.id(), append.value().clone());
            } else if (operation instanceof WriteBatch.Trim trim) {
                trim(trim.id(), list -> list.trimTo(trim.firstSequence()));
            } else {
                remove(operation.id());
            }
        }
        return lastAppended;
    }

    @Override
    public void trim(long id, long count, WriteCallback callback) {
        Arguments.notNegative(count, "count");
        trim(id, list -> list.trim(count), callback);
    }

    @Override
    public void trimTo(long id, long firstSequence, WriteCallback callback) {
        Arguments.notNegative(firstSequence, "firstSequence");
        trim(id, list -> list.trimTo(firstSequence), callback);
    }

    private void trim(long id, ToLongFunction<MemoryList> trim, WriteCallback callback) {
        Objects.requireNonNull(callback, "callback");
        synchronized (lock) {
            checkTakesWrites();
            callbacks.success(callback, trim(id, trim));
        }
    }

    private long trim(long id, ToLongFunction<MemoryList> trim) {
        trims++;
        MemoryList list = lists.get(id);
        if (list == null) {
            return 0;
        }
        heapBytes -= list.heapBytes();
        long first = trim.applyAsLong(list);
        heapBytes += list.heapBytes();
        return first;
    }

    @Override
    public void delete(long id, WriteCallback callback) {
        Objects.requireNonNull(callback, "callback");
        synchronized (lock) {
            checkTakesWrites();
            remove(id);
            callbacks.success(callback, -1);
        }
    }

    private void remove(long id) {
        deletes++;
        MemoryList removed = lists.remove(id);
        heapBytes -= removed == null ? 0 : removed.heapBytes();
    }

    @Override
    public void get(long id, EntryStream stream) {
        Objects.requireNonNull(stream, "stream");
        checkReadsHere("get");
        long from;
        byte[][] values;
        synchronized (lock) {
            checkOpen();
            MemoryList list = lists.get(id);
            from = list == null ? 0 : list.firstSequence();
            values = valuesFrom(list, from);
        }
        stream(stream, values, values.length, i -> i, from);
    }

    @Override
    public void get(long id, long fromSequence, EntryStream stream) {
        Objects.requireNonNull(stream, "stream");
        Arguments.notNegative(fromSequence, "fromSequence");
        checkReadsHere("get");
        byte[][] values;
        synchronized (lock) {
            checkOpen();
            MemoryList list = lists.get(id);
            if (list != null && fromSequence < list.firstSequence()) {
                throw new TrimmedException(id, fromSequence, list.firstSequence());
            }
            values = valuesFrom(list, fromSequence);
        }
        stream(stream, values, values.length, i -> i, fromSequence);
    }

    @Override
    public void getNewestFirst(long id, long beforeSequence, EntryStream stream) {
        Objects.requireNonNull(stream, "stream");
        Arguments.notNegative(beforeSequence, "beforeSequence");
        checkReadsHere("getNewestFirst");
        long first;
        byte[][] values;
        synchronized (lock) {
            checkOpen();
            MemoryList list = lists.get(id);
            first = list == null ? 0 : list.firstSequence();
            values = valuesFrom(list, first);
        }
        int count = (int) Math.max(0, Math.min(values.length, beforeSequence - first));
        stream(stream, values, count, i -> count - 1 - i, first);
    }

    /** Counts a reader as well, whom {@link #stream} lets go. */
    private byte[][] valuesFrom(@Nullable MemoryList list, long sequence) {
        byte[][] values = list == null ? new byte[0][] : list.valuesFrom(sequence);
        readers++;
        return values;
    }

    private void stream(EntryStream stream, byte[][] values, int count, IntUnaryOperator order, long firstSequence) {
        try {
            for (int i = 0; i < count; i++) {
                int at = order.applyAsInt(i);
                if (!stream.next(firstSequence + at, ByteBuffer.wrap(values[at]).asReadOnlyBuffer())) {
                    return;
                }
            }
            stream.finished();
        } finally {
            synchronized (lock) {
                readers--;
            }
        }
    }

    @Override
    public @Nullable ListInfo info(long id) {
        checkReadsHere("info");
        synchronized (lock) {
            checkOpen();
            MemoryList list = lists.get(id);
            return list == null ? null : list.info(id);
        }
    }

    @Override
    public @Nullable ListInfo accepted(long id) {
        synchronized (lock) {
            checkOpen();
            MemoryList list = lists.get(id);
            return list == null ? null : list.info(id);
        }
    }

    @Override
    public void acceptedLengths(long id, IntPredicate more) {
        Objects.requireNonNull(more, "more");
        byte[][] values;
        synchronized (lock) {
            checkOpen();
            MemoryList list = lists.get(id);
            values = list == null ? new byte[0][] : list.valuesFrom(list.firstSequence());
        }
        for (byte[] value : values) {
            if (!more.test(value.length)) {
                return;
            }
        }
    }

    @Override
    public void forEachList(LongConsumer ids) {
        Objects.requireNonNull(ids, "ids");
        checkReadsHere("forEachList");
        Long[] snapshot;
        synchronized (lock) {
            checkOpen();
            snapshot = lists.keySet().toArray(new Long[0]);
        }
        for (long id : snapshot) {
            ids.accept(id);
        }
    }

    @Override
    public StoreStats stats() {
        synchronized (lock) {
            return new StoreStats(
                    NAME,
                    appends,
                    appendedBytes,
                    trims,
                    deletes,
                    refusals,
                    0,
                    0,
                    0,
                    StoreStats.Distribution.EMPTY,
                    StoreStats.Distribution.EMPTY,
                    StoreStats.Distribution.EMPTY,
                    StoreStats.Distribution.EMPTY,
                    lists.size(),
                    StoreStats.HeapUse.EMPTY,
                    0,
                    0,
                    0,
                    readers,
                    StoreStats.Distribution.EMPTY);
        }
    }

    @Override
    public boolean writable() {
        synchronized (lock) {
            checkOpen();
            return true;
        }
    }

    @Override
    public void onWritable(Runnable action) {
        Objects.requireNonNull(action, "action");
        synchronized (lock) {
            checkOpen();
        }
        action.run();
    }

    @Override
    public Executor futureExecutor() {
        return futureExecutor;
    }

    @Override
    public void flush() {
        callbacks.refuseHere("flush");
        CompletableFuture<Void> called;
        synchronized (lock) {
            checkOpen();
            called = callbacks.calledSoFar();
        }
        called.join();
    }

    @Override
    public void checkpoint() {
        callbacks.refuseHere("checkpoint");
        synchronized (lock) {
            checkOpen();
        }
    }

    @Override
    public void close() {
        callbacks.refuseHere("close");
        CompletableFuture<Void> called;
        synchronized (lock) {
            if (closed == null) {
                closed = callbacks.calledSoFar();
            }
            called = closed;
        }
        called.join();
        callbacks.end();
        futureThread.close();
    }

    /** This store could well be read by a callback; but what works here has to work in production. */
    private void checkReadsHere(String method) {
        callbacks.refuseHere(method);
    }

    private void checkOpen() {
        if (closed != null) {
            throw new StoreClosedException(NAME);
        }
    }

    private void checkTakesWrites() {
        if (closed != null) {
            throw refused(new StoreClosedException(NAME));
        }
    }

    private void checkLength(int bytes) {
        if (bytes > maxValueBytes) {
            throw refused(new ValueTooLargeException("a value", bytes, maxValueBytes));
        }
    }

    private void checkSpace(long neededBytes) {
        if (neededBytes > maxHeapBytes - heapBytes) {
            throw refused(new OutOfSpaceException(NAME + " has no space for " + neededBytes + " bytes: " + heapBytes
                    + " of " + maxHeapBytes + " bytes are used; trim or delete lists"));
        }
    }

    private CaravanException refused(CaravanException refusal) {
        refusals++;
        return refusal;
    }
}
