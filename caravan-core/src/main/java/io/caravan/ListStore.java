package io.caravan;

import io.caravan.engine.DedicatedThread;
import io.caravan.engine.Engine;
import io.caravan.io.ArrayStorage;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A store of append-only lists of byte values, one list per id.
 *
 * <p><b>Sequences.</b> The first value of a list has sequence 0, and each further value has the next sequence. Trims do
 * not change sequences. An append to the id of a deleted list starts a new list at 0. A value may be empty. A missing
 * list reads as an empty list.
 *
 * <p><b>Writes</b> are asynchronous. A write that cannot be accepted (see each method) throws an exception, changes
 * nothing, and never calls its callback. An accepted write calls its callback exactly once:
 *
 * <ul>
 *   <li>{@code success} once the write is durable at the store's {@link Durability} level, or at the weaker level that
 *       a {@linkplain WriteBatch#durability(Durability) batch requests};
 *   <li>{@code failure} if the store fails first.
 * </ul>
 *
 * <p>At any level, the writes that survive a crash are a prefix of the accepted writes, in the order of acceptance.
 *
 * <p><b>Callbacks</b> run on a store thread, in the order in which the store accepted the writes, and must not block.
 * On a store thread of any store, every read ({@code get}, {@code getNewestFirst}, {@code read}, {@code readOne},
 * {@code readNewestFirst}, {@code info}, {@code forEachList}), {@code flush}, {@code checkpoint}, and {@code close}
 * throws {@link IllegalStateException}, because the method might wait for the calling thread's own work. Writes, {@code
 * writable}, {@code onWritable}, and {@code stats} are allowed.
 *
 * <p><b>Futures.</b> Each kind of write also has a form that returns a future. The future completes with the argument
 * of the callback, or with the exception that the write would have thrown. Only exceptions for invalid arguments, such
 * as a null value or a negative count, are still thrown.
 *
 * <p>Futures complete on {@link #futureExecutor()}, shortly after the callbacks. By default, the executor is one
 * separate thread, which completes all futures in the order in which the store accepted the writes; {@link
 * StoreConfig.Builder#futureExecutor} sets another executor. Unlike a callback, a stage that depends on a future may
 * read the store.
 *
 * <p>While such a stage runs on the default thread, no other future of the store completes. The stage should be short,
 * hand longer work to the {@code Async} methods, and compose futures instead of waiting: {@code join} and {@code get}
 * of another future throw {@link IllegalStateException} on that thread.
 *
 * <p>The store does not bound the number of futures whose dependent stages are pending. A writer that produces writes
 * faster than these stages complete must limit its own rate.
 *
 * <p><b>Reads</b> return only data that has reached the durability level at which it was written. Data that was written
 * at {@link Durability#MEMORY} is an exception: it must have reached {@link Durability#PROCESS}. A read requests the
 * flush of the list's last accepted write, waits for it, and then sees the list as of one moment. Concurrent trims and
 * deletes do not affect it. A thread always sees its own earlier writes, because the read waits for them. A read throws
 * {@link CorruptStoreException} if an entry's bytes differ from those that were appended.
 *
 * <p>An {@link EntryStream} runs outside the store's locks: it may be slow, and may read and write. Its exceptions
 * propagate to the reader.
 *
 * <p><b>Backpressure.</b> A write waits while the log's buffers are full, while the log has to grow, or while the heap
 * lacks space that a trim in progress will free. A thread that must never wait (an event loop, a callback) uses {@link
 * #tryWrite}, or checks {@link #writable()} first and registers an action with {@link #onWritable(Runnable)}.
 *
 * <p><b>Threads.</b> All methods are thread-safe. Interrupting a thread inside a method is harmless: channel I/O never
 * runs on a caller's thread, and the interrupt status is preserved. The store's own threads ignore interrupts, so a
 * callback may set the interrupt status of its thread.
 *
 * <p>Once the store is closed, every method except {@link #close()}, {@link #stats()}, {@link #layout()}, {@link
 * #group()}, {@link #shards()}, and {@link #futureExecutor()} throws {@link StoreClosedException}. Once the store has
 * failed, every write throws {@link StoreFailedException}.
 */
public interface ListStore extends AutoCloseable {

    /**
     * Opens a new store in the JVM heap. The store accepts the same values and batches as a durable store with default
     * settings. A nearly empty in-memory store takes about 20 MiB; see {@link #inMemory(StoreConfig)}.
     */
    static ListStore inMemory() {
        return inMemory(StoreConfig.builder(Path.of("memory"))
                .logSegmentBytes(8 << 20)
                .heapSegmentBytes(4 << 20)
                .checkpointFloorBytes(4 << 20)
                .build());
    }

    /**
     * Opens a new store in the JVM heap, for tests and caches. It accepts and rejects the same writes as a durable
     * store with this config, and its contents are lost when it is closed.
     *
     * <p>The store takes as much memory as the durable store would take disk space: the heap segments, the log since
     * the second-to-last checkpoint, and up to eight unused log segments kept for reuse. It has its own threads, and
     * must be closed.
     *
     * @param config the settings; the store does not access the directory, whose name only identifies the store in
     *     messages
     */
    static ListStore inMemory(StoreConfig config) {
        return DedicatedThread.call(
                "open a store in memory",
                () -> Engine.open(config, new ArrayStorage(config.directory().toString()), System::nanoTime));
    }

    /**
     * Appends one value. The callback receives the value's sequence once the value is durable.
     *
     * @param id any list id
     * @param value the bytes, at most the store's {@linkplain StoreConfig#maxValueBytes() value limit}; copied before
     *     this method returns
     * @throws ValueTooLargeException if the value exceeds the limit
     * @throws OutOfSpaceException if the heap or the log has no space for the value; trims and deletes still work
     * @throws NotWritableException if called by a callback while the store has no space
     */
    void append(long id, byte[] value, WriteCallback callback);

    /**
     * Appends the {@code value.remaining()} bytes that start at the buffer's position as {@link #append(long, byte[],
     * WriteCallback)} does. The position does not change.
     */
    void append(long id, ByteBuffer value, WriteCallback callback);

    /** Appends one value as {@link #append(long, byte[], WriteCallback)} does, and returns a future. */
    default CompletableFuture<Long> append(long id, byte[] value) {
        return WriteFuture.of(this, id, callback -> append(id, value, callback));
    }

    /**
     * Performs all operations of the batch, in order, or none of them, even if the process crashes. The callback
     * receives the sequence of the batch's last append, or -1 if the batch has no append. A batch may be empty, or
     * contain only expectations.
     *
     * @throws SequenceConflictException if an expectation of the batch does not hold
     * @throws ValueTooLargeException if a value exceeds the limit, or the batch does not fit a log buffer
     * @throws OutOfSpaceException if the heap or the log has no space for the batch; a batch that deletes an existing
     *     list may use space that is reserved for such batches
     * @throws NotWritableException if called by a callback while the store has no space
     */
    void write(WriteBatch batch, WriteCallback callback);

    /** Performs the batch as {@link #write(WriteBatch, WriteCallback)} does, and returns a future. */
    default CompletableFuture<Long> write(WriteBatch batch) {
        return WriteFuture.of(this, 0, callback -> write(batch, callback));
    }

    /**
     * Performs the batch as {@link #write(WriteBatch, WriteCallback)} does, if the store has space for it now. Never
     * waits for space, on any thread. If the store has no space, this returns false at once, changes nothing, and never
     * calls the callback. Use {@link #onWritable} to retry once space is available.
     *
     * <p>Throws the same exceptions, except {@link NotWritableException}. Throws {@link OutOfSpaceException} only if
     * waiting would not help.
     *
     * @return whether the write was accepted
     */
    boolean tryWrite(WriteBatch batch, WriteCallback callback);

    /**
     * Streams every retained entry of a list, oldest first, and then calls {@link EntryStream#finished()}.
     */
    void get(long id, EntryStream stream);

    /**
     * Streams the entries of a list, oldest first, starting at a sequence. If the sequence is past the end of the list,
     * the stream receives no entries and finishes.
     *
     * @param fromSequence zero or more
     * @throws TrimmedException if the entry at {@code fromSequence} has been trimmed, even if the list has no entries
     *     left; the stream is not called
     */
    void get(long id, long fromSequence, EntryStream stream);

    /**
     * Streams the retained entries of a list before a sequence, newest first, and then calls {@link
     * EntryStream#finished()}. Suitable for readers that start with the latest entries and page back.
     *
     * @param beforeSequence zero or more; {@link Long#MAX_VALUE} starts with the newest entry
     */
    void getNewestFirst(long id, long beforeSequence, EntryStream stream);

    /**
     * Trims the oldest {@code count} entries of a list, or all entries if the list has fewer. The callback receives the
     * sequence of the first retained entry, or the sequence of the next append if no entry is left. For a missing list
     * the trim succeeds, and the callback receives 0.
     *
     * @param count zero or more
     */
    void trim(long id, long count, WriteCallback callback);

    /** Trims as {@link #trim(long, long, WriteCallback)} does, and returns a future. */
    default CompletableFuture<Long> trim(long id, long count) {
        return WriteFuture.of(this, id, callback -> trim(id, count, callback));
    }

    /**
     * Trims all entries of a list before {@code firstSequence}, which may be past the end of the list. Idempotent. The
     * callback receives the same sequence as the callback of {@link #trim(long, long, WriteCallback)}.
     *
     * @param firstSequence zero or more
     */
    void trimTo(long id, long firstSequence, WriteCallback callback);

    /** Trims as {@link #trimTo(long, long, WriteCallback)} does, and returns a future. */
    default CompletableFuture<Long> trimTo(long id, long firstSequence) {
        return WriteFuture.of(this, id, callback -> trimTo(id, firstSequence, callback));
    }

    /** Deletes the list. Deleting a missing list succeeds. The callback receives -1. */
    void delete(long id, WriteCallback callback);

    /** Deletes the list as {@link #delete(long, WriteCallback)} does, and returns a future. */
    default CompletableFuture<Long> delete(long id) {
        return WriteFuture.of(this, id, callback -> delete(id, callback));
    }

    /**
     * Returns a summary of the list, or null if the list does not exist. Like a read, this method waits until the data
     * that it reports is durable.
     */
    @Nullable
    ListInfo info(long id);

    /**
     * Returns a summary of the list that includes all accepted writes, or null if the list does not exist. Intended for
     * callers that decide on the next write to the list. Unlike {@link #info}, this method never waits for writes and
     * may be called on any thread. A crash can still undo the reported writes.
     */
    @Nullable
    ListInfo accepted(long id);

    /**
     * Calls {@code more} with the length in bytes of each retained value, oldest first, until {@code more} returns
     * false. Covers all accepted writes. Like {@link #accepted}, this method neither reads values nor waits for writes.
     * It takes time proportional to the number of visited lengths.
     */
    void acceptedLengths(long id, IntPredicate more);

    /**
     * Calls {@code ids} with the id of every list, in no particular order. Like a read, this method waits until the
     * lists that it reports are durable. It may or may not report a list that is created or deleted during the call.
     * {@code ids} is called outside the store's locks.
     */
    void forEachList(LongConsumer ids);

    /** Returns the current counters and gauges of the store. */
    StoreStats stats();

    /** Returns the retained entries of a list, oldest first. Suitable for lists that are known to fit in memory. */
    default List<Entry> read(long id) {
        return collected(Integer.MAX_VALUE, entries -> get(id, entries));
    }

    /**
     * Returns the entries that {@link #get(long, long, EntryStream)} streams, up to a limit, or throws its exceptions.
     *
     * @param limit maximum number of entries to return, at least 1
     */
    default List<Entry> read(long id, long fromSequence, int limit) {
        return collected(limit, entries -> get(id, fromSequence, entries));
    }

    /**
     * Returns the entries that {@link #getNewestFirst} streams, up to a limit.
     *
     * @param limit maximum number of entries to return, at least 1
     */
    default List<Entry> readNewestFirst(long id, long beforeSequence, int limit) {
        return collected(limit, entries -> getNewestFirst(id, beforeSequence, entries));
    }

    private static List<Entry> collected(int limit, Consumer<EntryStream> read) {
        Arguments.between(limit, 1, Integer.MAX_VALUE, "limit");
        List<Entry> entries = new ArrayList<>();
        read.accept((sequence, value) -> {
            byte[] bytes = new byte[value.remaining()];
            value.get(bytes);
            entries.add(new Entry(sequence, bytes));
            return entries.size() < limit;
        });
        return entries;
    }

    /**
     * Returns one entry of a list, or null if the list is missing or has not reached this sequence.
     *
     * @param sequence zero or more
     * @throws TrimmedException if the entry has been trimmed
     */
    default @Nullable Entry readOne(long id, long sequence) {
        List<Entry> entries = read(id, sequence, 1);
        return entries.isEmpty() ? null : entries.get(0);
    }

    /**
     * Returns the layout of the store on disk. Takes time proportional to the number of holes in the heap. The work is
     * done in small slices, between which other work continues. Do not call it for every request.
     */
    StoreLayout layout();

    /** A write group: all writes between the call to {@link #group()} and the close of the group. */
    interface WriteGroup extends AutoCloseable {

        /**
         * Closes the group. May be called on any thread, whether or not the group's writes succeeded. Idempotent; never
         * waits.
         */
        @Override
        void close();

        /**
         * Closes the group, and flushes its writes on this thread if the handover to the flusher would take longer than
         * the fsync. Intended for an event loop that has read from all its connections. This thread flushes only if all
         * of the following hold:
         *
         * <ul>
         *   <li>The writes are small (up to 16 KiB), and no other thread writes.
         *   <li>The {@link FlushPolicy} requires no delay.
         *   <li>Recent fsyncs took well under a millisecond.
         *   <li>This thread is an {@link UninterruptibleThread}.
         * </ul>
         *
         * <p>During such a flush, this thread is a store thread: it calls the callbacks, and must not hold a lock that
         * they need. If a condition does not hold, this method only {@linkplain #close() closes} the group. If the
         * fsync fails, this method does not throw; the callbacks receive the failure.
         */
        default void closeAndFlush() {
            close();
        }
    }

    /**
     * Opens a write group, which announces that several writes will follow immediately. The store may delay their flush
     * until the group is closed, so that they share one fsync. Without a group, the first write starts a flush, and the
     * others wait for the next flush. Intended for callers that receive several writes together, such as an event loop:
     *
     * <pre>{@code
     * try (ListStore.WriteGroup group = store.group()) {
     *     changes.forEach(change -> store.append(change.id(), change.bytes(), change.callback()));
     * }
     * }</pre>
     *
     * <p>Other writers' writes may wait as well, but no write waits for a group for much longer than a millisecond:
     * after this time, the store ignores an open group. A read or a {@link #flush()} of the group's writes does not
     * wait until the group is closed. Opening a group never waits.
     */
    WriteGroup group();

    /**
     * Returns the stores that make up this store, in the order of their numbers. A store other than a {@link
     * ShardedStore} returns only itself. Only this store may close the returned stores.
     */
    default List<ListStore> shards() {
        return List.of(this);
    }

    /**
     * Whether the store probably has space for a write now. If a {@link #tryWrite} found no space, this method returns
     * false until more space may be available.
     */
    boolean writable();

    /**
     * Runs the action a single time when the store is writable: now on this thread, or later on a store thread. Also
     * runs it when the store fails or closes, so that waiting callers are notified. If the action throws an exception
     * on a store thread, the exception is logged and has no other effect.
     */
    void onWritable(Runnable action);

    /**
     * Returns the executor on which this store's futures complete: the executor from the config, or else a thread of
     * the store. That thread also runs other tasks that are submitted to it.
     */
    Executor futureExecutor();

    /**
     * Waits until all writes accepted so far are durable at the store's level, even if they requested a weaker level,
     * and their callbacks have been called. Futures complete shortly afterwards.
     */
    void flush();

    /** Publishes a checkpoint. Returns once it is published. */
    void checkpoint();

    /**
     * Makes all accepted writes durable, publishes a checkpoint, and releases the directory. When it returns, every
     * callback has been called, and every future that completes on the store's own thread has completed (unless that
     * thread calls this method). Idempotent: a second call returns once the first has finished.
     *
     * @throws StoreFailedException if accepted data could not be made durable and the store had not failed before this
     *     call; the directory is released anyway
     */
    @Override
    void close();
}
