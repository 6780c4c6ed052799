package io.caravan.engine;

import io.caravan.CaravanException;
import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.SequenceConflictException;
import io.caravan.ValueTooLargeException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.format.Checksums;
import io.caravan.format.EntryLayout;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.index.ListIndex;
import io.caravan.wal.LogBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Performs writes to lists. A write is first checked, and its checksums are computed, without the lock. Under the lock,
 * it waits for space, places and fills its record, changes the index, and adds its callback. If a write is rejected,
 * nothing has been changed. Also determines whether a write would have to wait, and runs the waiting actions once a
 * write could proceed.
 */
final class WritePath {
    private static final long NO_SEQUENCE = -1;
    private static final long NEVER = -1;
    private static final Copy<byte[]> ARRAY = (frame, at, value, length) -> frame.put(at, value, 0, length);
    private static final Copy<ByteBuffer> BUFFER =
            (frame, at, value, length) -> frame.put(at, value, value.position(), length);

    private final StoreState state;
    private final CommitQueue queue;
    private final HeapSpace space;

    /** The LSN of the last deletion of a list. Guarded by the store's lock. */
    private long lastRemovalLsn = NEVER;

    /** Actions to run once the store is writable. Guarded by the store's lock. */
    private List<Runnable> actions = new ArrayList<>();

    WritePath(StoreState state, CommitQueue queue, HeapSpace space) {
        this.state = state;
        this.queue = queue;
        this.space = space;
    }

    /**
     * Copies a value into a frame. Arrays and buffers have separate implementations, so that neither has to be wrapped.
     */
    private interface Copy<T> {
        void into(ByteBuffer frame, int at, T value, int length);
    }

    void append(long id, ByteBuffer value, WriteCallback callback) {
        int length = checkLength(value.remaining());
        int crc = Checksums.crc32c(value, value.position(), length);
        append(id, value, length, crc, BUFFER, Commit.USUAL_TERMS, callback, true);
    }

    void append(long id, byte[] value, WriteBatch terms, WriteCallback callback, boolean mayWait) {
        int length = checkLength(value.length);
        append(id, value, length, Checksums.crc32c(value), ARRAY, terms, callback, mayWait);
    }

    /** Appends a value to a list. Uses no lambda, because this runs for every append and must not create garbage. */
    private <T> void append(
            long id,
            T value,
            int length,
            int crc,
            Copy<T> copy,
            WriteBatch terms,
            WriteCallback callback,
            boolean mayWait) {
        state.lock.lock();
        try {
            Commit commit = roomForAppend(id, length, mayWait);
            try {
                queue.add(callback, putAppend(commit.frame(), id, value, length, crc, copy), terms);
            } catch (RuntimeException | Error broken) {
                throw state.fail(broken);
            }
        } catch (CaravanException rejected) {
            countRejection(rejected, mayWait);
            throw rejected;
        } finally {
            state.lock.unlock();
        }
    }

    /** Counts a rejected write, unless the caller repeats it when the store has space. */
    private void countRejection(CaravanException rejected, boolean mayWait) {
        if (mayWait || !(rejected instanceof NotWritableException)) {
            state.counters.rejections++;
        }
    }

    private Commit roomForAppend(long id, int length, boolean mayWait) {
        Commit commit =
                makeRoom(RecordLayout.appendBytes(length), EntryLayout.entryBytes(length), Reserve.FRONT, mayWait);
        if (state.index.appendsLeft() == 0) {
            requireLists(state.index.find(id) == ListIndex.NONE ? 1 : 0);
            requireEntries(1, 1);
        }
        return commit;
    }

    /**
     * Waits until the active commit has space for records of this size, and the heap has space for their entries.
     * Returns the commit.
     *
     * @param reserve the reserved space that the write may use
     */
    private Commit makeRoom(int recordBytes, long entryBytes, Reserve reserve, boolean mayWait) {
        Commit commit = queue.makeRoom(recordBytes, reserve, mayWait);
        while (entryBytes > 0 && !space.admit(entryBytes, reserve, mayWait)) {
            commit = queue.makeRoom(recordBytes, reserve, mayWait);
        }
        return commit;
    }

    void trim(long id, long count, WriteCallback callback) {
        release(RecordLayout.TRIM_BYTES, callback, frame -> {
            int list = state.index.find(id);
            long to = list == ListIndex.NONE ? 0 : state.index.first(list) + count;
            // A sum of nonnegative numbers is negative if it overflows.
            return putTrim(frame, id, to < 0 ? Long.MAX_VALUE : to);
        });
    }

    void trimTo(long id, long firstSequence, WriteCallback callback) {
        release(RecordLayout.TRIM_BYTES, callback, frame -> putTrim(frame, id, firstSequence));
    }

    void delete(long id, WriteCallback callback) {
        release(RecordLayout.DELETE_BYTES, callback, frame -> putDelete(frame, id));
    }

    private void release(int bytes, WriteCallback callback, ToLongFunction<LogBuffer> put) {
        admit(true, () -> enter(queue.makeRoom(bytes, Reserve.ALL, true), put, Commit.USUAL_TERMS, callback));
    }

    /** Writes the batch if the write need not wait for space. Returns whether the batch was written. */
    boolean tryWrite(WriteBatch batch, WriteCallback callback) {
        try {
            write(batch, callback, false);
            return true;
        } catch (NotWritableException noRoom) {
            return false;
        }
    }

    void write(WriteBatch batch, WriteCallback callback, boolean mayWait) {
        List<WriteBatch.Operation> operations = batch.operations();
        if (operations.size() == 1
                && operations.get(0) instanceof WriteBatch.Append append
                && batch.expectations().isEmpty()) {
            append(append.id(), append.value(), batch, callback, mayWait);
            return;
        }
        int[] crcs = new int[operations.size()];
        int bytes = measure(operations, crcs);
        long entryBytes = operations.stream()
                .filter(WriteBatch.Append.class::isInstance)
                .mapToLong(append -> EntryLayout.entryBytes(((WriteBatch.Append) append).value().length))
                .sum();
        long[] deleted = operations.stream()
                .filter(WriteBatch.Delete.class::isInstance)
                .mapToLong(WriteBatch.Operation::id)
                .toArray();
        admit(mayWait, () -> {
            Reserve reserve;
            Commit commit;
            do {
                reserve = reserveFor(deleted, entryBytes);
                commit = makeRoom(bytes, entryBytes, reserve, mayWait);
                // During a wait, another write may have deleted the lists.
            } while (reserve != reserveFor(deleted, entryBytes));
            checkExpectations(batch.expectations());
            if (entryBytes > 0 && state.index.appendsLeft() < operations.size()) {
                requireLists(listsNeeded(operations));
                requireEntries(operations.size(), idsOf(operations));
            }
            enter(commit, frame -> putAll(frame, operations, crcs), batch, callback);
            if (reserve == Reserve.DELETIONS) {
                queue.countInReserve(bytes);
            }
        });
    }

    /** Returns the reserved space that a batch may use. The deletion of a missing list does not justify its use. */
    private Reserve reserveFor(long[] deleted, long entryBytes) {
        if (entryBytes == 0) {
            return Reserve.ALL;
        }
        return Arrays.stream(deleted).anyMatch(id -> state.index.find(id) != ListIndex.NONE)
                ? Reserve.DELETIONS
                : Reserve.FRONT;
    }

    private int measure(List<WriteBatch.Operation> operations, int[] crcs) {
        long bytes = 0;
        for (int i = 0; i < crcs.length; i++) {
            WriteBatch.Operation operation = operations.get(i);
            if (operation instanceof WriteBatch.Append append) {
                checkLength(append.value().length);
                crcs[i] = Checksums.crc32c(append.value());
                bytes += RecordLayout.appendBytes(append.value().length);
            } else {
                bytes += operation instanceof WriteBatch.Trim ? RecordLayout.TRIM_BYTES : RecordLayout.DELETE_BYTES;
            }
        }
        if (bytes > queue.maxRecordBytes()) {
            rejected();
            throw new ValueTooLargeException("a batch", bytes, queue.maxRecordBytes());
        }
        return (int) bytes;
    }

    private int checkLength(int length) {
        if (length > state.config.maxValueBytes()) {
            rejected();
            throw new ValueTooLargeException("a value", length, state.config.maxValueBytes());
        }
        return length;
    }

    private void rejected() {
        state.locked(() -> {
            state.checkOpen();
            state.counters.rejections++;
        });
    }

    /**
     * Returns an upper bound on the number of list records that a batch needs in the index. A deleted list keeps its
     * record until it is freed, so an append to the same id needs another.
     */
    private long listsNeeded(List<WriteBatch.Operation> operations) {
        Set<Long> deleted = operations.stream()
                .filter(WriteBatch.Delete.class::isInstance)
                .map(WriteBatch.Operation::id)
                .collect(Collectors.toSet());
        return operations.stream()
                .filter(WriteBatch.Append.class::isInstance)
                .mapToLong(WriteBatch.Operation::id)
                .filter(id -> deleted.contains(id) || state.index.find(id) == ListIndex.NONE)
                .count();
    }

    private void requireLists(long needed) {
        int left = state.index.listsLeft();
        if (needed > left) {
            throw new OutOfSpaceException(state.name() + " has " + state.index.listCount() + " lists and space for "
                    + left + " more, too few for this write; delete lists, whose places are free after the next fsync");
        }
    }

    private static long idsOf(List<WriteBatch.Operation> operations) {
        return operations.stream()
                .mapToLong(WriteBatch.Operation::id)
                .distinct()
                .count();
    }

    private void requireEntries(long needed, long lists) {
        if (!state.index.hasRoom(needed, lists)) {
            throw new OutOfSpaceException(state.name() + " has " + state.index.entryCount()
                    + " entries, and its index has no space for more; trim or delete lists, whose space is free after the"
                    + " next fsync");
        }
    }

    private void checkExpectations(List<WriteBatch.Expectation> expectations) {
        for (WriteBatch.Expectation expectation : expectations) {
            int list = state.index.find(expectation.id());
            long actual = list == ListIndex.NONE ? 0 : state.index.next(list);
            if (actual != expectation.nextSequence()) {
                throw new SequenceConflictException(expectation.id(), expectation.nextSequence(), actual);
            }
        }
    }

    private long putAll(LogBuffer frame, List<WriteBatch.Operation> operations, int[] crcs) {
        long sequence = NO_SEQUENCE;
        for (int i = 0; i < crcs.length; i++) {
            WriteBatch.Operation operation = operations.get(i);
            if (operation instanceof WriteBatch.Append append) {
                byte[] value = append.value();
                sequence = putAppend(frame, append.id(), value, value.length, crcs[i], ARRAY);
            } else if (operation instanceof WriteBatch.Trim trim) {
                putTrim(frame, trim.id(), trim.firstSequence());
            } else {
                putDelete(frame, operation.id());
            }
        }
        return sequence;
    }

    private <T> long putAppend(LogBuffer frame, long id, T value, int length, int crc, Copy<T> copy) {
        ListIndex index = state.index;
        int at = frame.add(RecordLayout.appendBytes(length));
        int list = index.findOrCreate(id, frame.lsn(at), 0);
        long sequence = index.next(list);
        int checksum = EntryLayout.checksum(crc, length, id, index.creationLsn(list), sequence);
        RecordLayout.putAppend(frame.memory(), at, id, sequence, checksum, length);
        copy.into(frame.memory(), at + RecordLayout.ENTRY + EntryLayout.VALUE, value, length);
        applyAppend(list, Region.inLog(frame.lsn(at + RecordLayout.ENTRY), length), length, frame.lsn(at));
        return sequence;
    }

    /** Trims a list. A trim that changes nothing needs no record. Returns the first retained sequence. */
    private long putTrim(LogBuffer frame, long id, long to) {
        ListIndex index = state.index;
        state.counters.writes(id).trims++;
        int list = index.find(id);
        if (list == ListIndex.NONE) {
            return 0;
        }
        if (to <= index.first(list) || index.first(list) == index.next(list)) {
            return index.first(list);
        }
        int at = frame.add(RecordLayout.TRIM_BYTES);
        long first = applyTrim(list, to, frame.lsn(at));
        RecordLayout.putTrim(frame.memory(), at, id, first);
        return first;
    }

    /** Deletes a list, if it exists. */
    private long putDelete(LogBuffer frame, long id) {
        state.counters.writes(id).deletes++;
        int list = state.index.find(id);
        if (list != ListIndex.NONE) {
            int at = frame.add(RecordLayout.DELETE_BYTES);
            RecordLayout.putDelete(frame.memory(), at, id);
            applyDelete(list, frame.lsn(at));
        }
        return NO_SEQUENCE;
    }

    // The next methods apply records to the lists, as soon as a record is written or replayed. Called under the
    // lock.

    void applyAppend(int list, long region, int length, long lsn) {
        state.index.append(list, region, lsn);
        Counters.Writes writes = state.counters.writes(state.index.id(list));
        writes.appends++;
        writes.appendedBytes += length;
    }

    /** Trims a list. Returns the first retained sequence. */
    long applyTrim(int list, long to, long lsn) {
        long first = state.index.trimTo(list, to, lsn);
        space.reclaimLater(list, first, lsn);
        return first;
    }

    void applyDelete(int list, long lsn) {
        state.index.remove(list, lsn);
        space.reclaimLater(list, state.index.next(list), lsn);
        lastRemovalLsn = lsn;
    }

    /** Returns the LSN of the last deletion of a list. A read of a missing list waits until this LSN is committed. */
    long lastRemovalLsn() {
        return lastRemovalLsn;
    }

    private void admit(boolean mayWait, Runnable write) {
        state.lock.lock();
        try {
            write.run();
        } catch (CaravanException rejected) {
            countRejection(rejected, mayWait);
            throw rejected;
        } finally {
            state.lock.unlock();
        }
    }

    /**
     * Applies the changes of an admitted write. An exception would leave an incomplete frame, and therefore fails the
     * store.
     *
     * @param put adds the records, changes the index, and returns the sequence for the callback
     */
    private void enter(Commit commit, ToLongFunction<LogBuffer> put, WriteBatch terms, WriteCallback callback) {
        try {
            queue.add(callback, put.applyAsLong(commit.frame()), terms);
        } catch (RuntimeException | Error broken) {
            throw state.fail(broken);
        }
    }

    /** Whether a write could proceed without waiting; see {@link io.caravan.ListStore#writable()}. */
    boolean writable() {
        return state.locked(() -> {
            state.checkOpen();
            return writableNow();
        });
    }

    private boolean writableNow() {
        return state.failure() != null || !state.lacksSpace() && queue.writable() && space.writable();
    }

    /** Runs the action once the store is writable; see {@link io.caravan.ListStore#onWritable}. */
    void onWritable(Runnable action) {
        boolean now = state.locked(() -> {
            state.checkOpen();
            boolean writable = writableNow();
            if (!writable) {
                actions.add(action);
                requestSpace();
            }
            return writable;
        });
        if (now) {
            action.run();
        }
    }

    /**
     * Requests a flush or fsync if the actions are waiting for one. Without this request, the store might never become
     * writable.
     */
    private void requestSpace() {
        if (!queue.active().roomy()) {
            queue.requireFlush();
        }
        if (!space.writable()) {
            space.requireReclaim();
        }
    }

    /**
     * Runs the waiting actions if the store is writable, or if it is closed, so that the code that registered them is
     * notified.
     */
    void runActions(boolean closed) {
        List<Runnable> taken = state.locked(() -> {
            if (actions.isEmpty()) {
                return List.of();
            }
            if (!closed && !writableNow()) {
                requestSpace();
                return List.of();
            }
            List<Runnable> all = actions;
            actions = new ArrayList<>();
            return all;
        });
        taken.forEach(action -> WorkerThread.runUserCode("An action that waited for writability", action));
    }
}
