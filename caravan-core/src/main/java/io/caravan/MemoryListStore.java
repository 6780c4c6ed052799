package io.caravan;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The contract of {@link ListStore} in memory, for tests and caches: nothing is kept, and nothing can fail.
 *
 * <p>One lock guards all lists. A write is performed under it and is as durable as it will ever be, so its callback is
 * queued at once, under the same lock: the order of acceptance. A read copies the list's references under the lock and
 * streams outside it.
 */
public final class MemoryListStore implements ListStore {
    private static final String NAME = "memory";
    private static final int DEFAULT_MAX_VALUE_BYTES = 1024 * 1024;

    private final int maxValueBytes;
    private final CallbackThread callbacks = new CallbackThread(NAME);
    private final Object lock = new Object();

    // Guarded by lock.
    private final Map<Long, MemoryList> lists = new HashMap<>();
    private @Nullable CompletableFuture<Void> closed;
    private long appends;
    private long appendedBytes;
    private long trims;
    private long deletes;
    private long refusals;
    private long readers;

    /** A store that takes values of up to 1 MiB, as a durable one does by default. */
    public MemoryListStore() {
        this(DEFAULT_MAX_VALUE_BYTES);
    }

    /**
     * A store with another limit.
     *
     * @param maxValueBytes greatest length of one value, at least 1
     */
    public MemoryListStore(int maxValueBytes) {
        this.maxValueBytes = (int) Arguments.between(maxValueBytes, 1, Integer.MAX_VALUE, "maxValueBytes");
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
            checkFits(value.remaining());
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
        return lists.computeIfAbsent(id, missing -> new MemoryList()).append(copy);
    }

    @Override
    public void write(WriteBatch batch, WriteCallback callback) {
        Objects.requireNonNull(batch, "batch");
        Objects.requireNonNull(callback, "callback");
        synchronized (lock) {
            checkTakesWrites();
            batch.expectations().forEach(this::checkHolds);
            batch.operations().forEach(this::checkFits);
            callbacks.success(callback, perform(batch));
        }
    }

    private void checkHolds(WriteBatch.Expectation expectation) {
        MemoryList list = lists.get(expectation.id());
        long actual = list == null ? 0 : list.nextSequence();
        if (actual != expectation.nextSequence()) {
            throw refused(new SequenceConflictException(expectation.id(), expectation.nextSequence(), actual));
        }
    }

    private void checkFits(WriteBatch.Operation operation) {
        if (operation instanceof WriteBatch.Append append) {
            checkFits(append.value().length);
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
        return list == null ? 0 : trim.applyAsLong(list);
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
        lists.remove(id);
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
        stream(from, values, stream);
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
        stream(fromSequence, values, stream);
    }

    /** Counts a reader as well, whom {@link #stream} lets go. */
    private byte[][] valuesFrom(@Nullable MemoryList list, long sequence) {
        byte[][] values = list == null ? new byte[0][] : list.valuesFrom(sequence);
        readers++;
        return values;
    }

    private void stream(long firstSequence, byte[][] values, EntryStream stream) {
        try {
            for (int i = 0; i < values.length; i++) {
                if (!stream.next(firstSequence + i, ByteBuffer.wrap(values[i]).asReadOnlyBuffer())) {
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
                    lists.size(),
                    StoreStats.HeapUse.EMPTY,
                    0,
                    0,
                    0,
                    readers);
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
    public void flush() {
        callbacks.refuseHere("flush");
        CompletableFuture<Void> told;
        synchronized (lock) {
            checkOpen();
            told = callbacks.toldSoFar();
        }
        told.join();
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
        CompletableFuture<Void> told;
        synchronized (lock) {
            if (closed == null) {
                closed = callbacks.toldSoFar();
            }
            told = closed;
        }
        told.join();
        callbacks.end();
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

    private void checkFits(int bytes) {
        if (bytes > maxValueBytes) {
            throw refused(new ValueTooLargeException("a value", bytes, maxValueBytes));
        }
    }

    private CaravanException refused(CaravanException refusal) {
        refusals++;
        return refusal;
    }
}
