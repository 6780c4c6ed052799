package io.caravan;

import io.caravan.engine.Engine;
import io.caravan.engine.OwnThread;
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
 * A store of append-only lists of byte values, one list per document id.
 *
 * <p><b>Sequences.</b> The first value of a list has sequence 0, each further one the next; trims never shift them. A
 * deleted list is gone: appending to its id starts a new list at 0. An empty value is a value. A missing list reads as
 * an empty one.
 *
 * <p><b>Writes</b> are asynchronous. A write that cannot be accepted (see each method) throws, has changed nothing, and
 * its callback is never called. A write that was accepted calls its callback exactly once: {@code success} when it is
 * durable at the store's {@link Durability} level, or at the weaker one that a
 * {@linkplain WriteBatch#durability(Durability) batch asks for}, or {@code failure} when the store failed first. At any
 * level the writes that a crash leaves are the first ones up to some point, in the order in which they were accepted.
 *
 * <p><b>Callbacks</b> run on a store thread, in the order in which the store accepted the writes, and must not block.
 * There, on a thread of any store, every read ({@code get}, {@code getNewestFirst}, {@code read}, {@code readOne},
 * {@code readNewestFirst}, {@code info}, {@code forEachList}), {@code flush}, {@code checkpoint} and {@code close}
 * throws {@link IllegalStateException}: it might have to wait for the very thread that calls it. Writes,
 * {@code writable}, {@code onWritable} and {@code stats} work.
 *
 * <p><b>Futures.</b> Each kind of write has a form that returns a future instead, for whoever would rather compose than
 * be called. It completes with what the callback would get, or with the exception that the write would have thrown;
 * only a caller's mistakes, such as a null value or a negative count, are thrown all the same. Futures complete on
 * {@link #futureExecutor()}, a little after the callbacks: on a thread of the store's own, one for all of them, in the
 * order in which the store accepted the writes, unless {@link StoreConfig.Builder#futureExecutor} says otherwise. What
 * depends on a future may therefore read and write the store, which a callback may not; but while it runs, no other
 * future of the store completes. So it should be short, hand longer work to the {@code Async} methods, and compose
 * rather than wait: {@code join} and {@code get} of another future throw {@link IllegalStateException} there. The store
 * does not bound how many futures wait for their dependents; a writer that is faster than they are has to.
 *
 * <p><b>Reads</b> see only what is durable at the level at which it was written (at {@link Durability#NONE}, as at
 * {@link Durability#PROCESS}): a read asks for the flush of the list's last accepted change and waits for
 * it, and then sees the list as it is at one moment, whatever is trimmed or deleted meanwhile. A thread reads whatever
 * it wrote before, acknowledged or not. A stream runs outside the store's locks: it may be slow, may read and write in
 * turn, and what it throws reaches the reader.
 *
 * <p><b>Backpressure.</b> When the log's buffers are full, the log has to grow, or the heap has no room but what a trim
 * under way will free, a write waits. A thread that must never wait (an event loop, a callback) uses {@link #tryWrite},
 * or asks {@link #writable()} first, and leaves an action with {@link #onWritable(Runnable)}.
 *
 * <p><b>Threading.</b> All methods may be called by any number of threads. Interrupting a thread inside any of them is
 * harmless: no caller's thread does channel I/O; the interrupt status is kept. The store's own threads ignore
 * interrupts, so a callback that sets the interrupt status of its thread does no harm either.
 *
 * <p>Every method but {@link #close()}, {@link #stats()} and {@link #futureExecutor()} throws
 * {@link StoreClosedException} once the store is closed, and every write throws {@link StoreFailedException} once it
 * has failed.
 */
public interface ListStore extends AutoCloseable {

    /**
     * Opens a new store in the Java heap that takes the values and batches that a durable one takes by default, and with
     * little in it some 20 MiB; see {@link #inMemory(StoreConfig)}.
     */
    static ListStore inMemory() {
        return inMemory(StoreConfig.builder(Path.of("memory"))
                .logSegmentBytes(8 << 20)
                .heapSegmentBytes(4 << 20)
                .checkpointFloorBytes(4 << 20)
                .build());
    }

    /**
     * Opens a new store in the Java heap, for tests and caches: a durable store without a disk, so it does and refuses what
     * that would, and keeps nothing. Its memory is what the durable one would take of the disk: heap segments, and the log
     * since the checkpoint before the last, of which up to eight segments are kept to be used again. It has threads of its
     * own, and must be closed.
     *
     * @param config its directory is not touched: it only names the store in messages
     */
    static ListStore inMemory(StoreConfig config) {
        return OwnThread.call(
                "open a store in memory",
                () -> Engine.open(config, new ArrayStorage(config.directory().toString()), System::nanoTime));
    }

    /**
     * Appends one value. The callback gets the value's sequence once it is durable.
     *
     * @param id any document id
     * @param value the bytes, at most the store's {@linkplain StoreConfig#maxValueBytes() value limit}; copied before
     *     this method returns
     * @throws ValueTooLargeException when the value is over the limit
     * @throws OutOfSpaceException when heap or log have no space for it; trims and deletes still work
     * @throws NotWritableException when called by a callback while there is no room
     */
    void append(long id, byte[] value, WriteCallback callback);

    /**
     * Appends the {@code value.remaining()} bytes from the buffer's position on; the position stays where it is.
     *
     * @see #append(long, byte[], WriteCallback)
     */
    void append(long id, ByteBuffer value, WriteCallback callback);

    /**
     * Appends one value; the future gets the value's sequence once it is durable.
     *
     * @see #append(long, byte[], WriteCallback)
     */
    default CompletableFuture<Long> append(long id, byte[] value) {
        return WriteFuture.of(this, callback -> append(id, value, callback));
    }

    /**
     * Performs all operations of the batch, in order, or none of them: a crash cannot come between them. The callback
     * gets the sequence of the batch's last append, or -1 when it has none. A batch may be empty, or only expect.
     *
     * @throws SequenceConflictException when an expectation of the batch does not hold
     * @throws ValueTooLargeException when a value is over the limit, or the whole batch over what fits a log buffer
     * @throws OutOfSpaceException when heap or log have no space for it
     * @throws NotWritableException when called by a callback while there is no room
     */
    void write(WriteBatch batch, WriteCallback callback);

    /**
     * Performs the batch as {@link #write(WriteBatch, WriteCallback)} does; the future gets what its callback gets.
     */
    default CompletableFuture<Long> write(WriteBatch batch) {
        return WriteFuture.of(this, callback -> write(batch, callback));
    }

    /**
     * Performs the batch as {@link #write(WriteBatch, WriteCallback)} does, if there is room for it now. Never waits,
     * on any thread: when there is no room, it returns false at once, nothing has changed, and the callback is never
     * called. {@link #onWritable} says when to try again.
     *
     * @return whether the write was accepted
     * @throws SequenceConflictException when an expectation of the batch does not hold
     * @throws ValueTooLargeException when a value is over the limit, or the whole batch over what fits a log buffer
     * @throws OutOfSpaceException when heap or log have no space for it, and waiting would not help
     */
    boolean tryWrite(WriteBatch batch, WriteCallback callback);

    /**
     * Streams every retained entry, oldest first, and then calls {@link EntryStream#finished()}.
     *
     * @throws CorruptStoreException when an entry's bytes are not those that were appended
     */
    void get(long id, EntryStream stream);

    /**
     * Streams the entries from a sequence on; from past the end it finishes at once.
     *
     * @param fromSequence zero or more
     * @throws TrimmedException when entries from {@code fromSequence} on have been trimmed, all of them included; the
     *     stream has not been called
     * @throws CorruptStoreException when an entry's bytes are not those that were appended
     */
    void get(long id, long fromSequence, EntryStream stream);

    /**
     * Streams the retained entries before a sequence, newest first, and then calls {@link EntryStream#finished()}: for
     * whoever wants the latest entries, and pages back from them.
     *
     * @param beforeSequence zero or more; {@link Long#MAX_VALUE} starts with the newest entry
     * @throws CorruptStoreException when an entry's bytes are not those that were appended
     */
    void getNewestFirst(long id, long beforeSequence, EntryStream stream);

    /**
     * Drops {@code count} entries from the list's head; all of them when it has fewer. The callback gets the sequence
     * of the first entry that is retained, or that the next append will get when none is. A missing list stays missing,
     * which is a success; the callback gets 0.
     *
     * @param count zero or more
     */
    void trim(long id, long count, WriteCallback callback);

    /** Trims as {@link #trim(long, long, WriteCallback)} does; the future gets what its callback gets. */
    default CompletableFuture<Long> trim(long id, long count) {
        return WriteFuture.of(this, callback -> trim(id, count, callback));
    }

    /**
     * Drops all entries before {@code firstSequence}; all entries when the list ends before it. Idempotent. The
     * callback gets what that of {@link #trim(long, long, WriteCallback)} gets.
     *
     * @param firstSequence zero or more
     */
    void trimTo(long id, long firstSequence, WriteCallback callback);

    /** Trims as {@link #trimTo(long, long, WriteCallback)} does; the future gets what its callback gets. */
    default CompletableFuture<Long> trimTo(long id, long firstSequence) {
        return WriteFuture.of(this, callback -> trimTo(id, firstSequence, callback));
    }

    /** Deletes the list. Deleting a missing list is a success. The callback gets -1. */
    void delete(long id, WriteCallback callback);

    /** Deletes the list as {@link #delete(long, WriteCallback)} does; the future gets -1. */
    default CompletableFuture<Long> delete(long id) {
        return WriteFuture.of(this, callback -> delete(id, callback));
    }

    /**
     * What the list holds, or null when there is no such list. Waits as a read does, so it reports only what is durable.
     */
    @Nullable
    ListInfo info(long id);

    /**
     * What the list holds as accepted so far, or null when there is no such list: for whoever decides on the next write
     * to it. Unlike {@link #info} it waits for no write, may be called on any thread, and a crash can still take back
     * what it tells.
     */
    @Nullable
    ListInfo accepted(long id);

    /**
     * Calls {@code more} with the length in bytes of each retained value as accepted so far, oldest first, until it
     * returns false. Reads no value and waits for no write, like {@link #accepted}. Takes time for each length.
     */
    void acceptedLengths(long id, IntPredicate more);

    /**
     * Calls {@code ids} with the id of every list, in no particular order. Waits as a read does, so it reports only
     * lists that are durable; those created or deleted meanwhile may be among them or not. The action runs outside the
     * store's locks.
     */
    void forEachList(LongConsumer ids);

    /** Counters and gauges of this moment. */
    StoreStats stats();

    /** Collects the retained entries of a list, oldest first; for lists that are known to fit in memory. */
    default List<Entry> read(long id) {
        return collected(Integer.MAX_VALUE, entries -> get(id, entries));
    }

    /**
     * Collects a list's entries from a sequence on, oldest first, up to a limit; none from past the end.
     *
     * @param fromSequence zero or more
     * @param limit the most entries to return, at least 1
     * @throws TrimmedException when entries from {@code fromSequence} on have been trimmed, all of them included
     */
    default List<Entry> read(long id, long fromSequence, int limit) {
        return collected(limit, entries -> get(id, fromSequence, entries));
    }

    /**
     * Collects the retained entries before a sequence, newest first, up to a limit.
     *
     * @param beforeSequence zero or more; {@link Long#MAX_VALUE} starts with the newest entry
     * @param limit the most entries to return, at least 1
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
     * One entry, or null when the list has not come to this sequence, or is missing.
     *
     * @param sequence zero or more
     * @throws TrimmedException when the entry has been trimmed
     */
    default @Nullable Entry readOne(long id, long sequence) {
        List<Entry> entries = read(id, sequence, 1);
        return entries.isEmpty() ? null : entries.get(0);
    }

    /**
     * How the store lies on disk. Takes as long as there are holes in the heap, in small steps between which others go
     * on: not for every request.
     */
    default StoreLayout layout() {
        return StoreLayout.EMPTY;
    }

    /** Writes that follow each other at once, from {@link #group()} until it is closed. */
    interface Group extends AutoCloseable {

        /** Ends the group, on any thread and whatever has become of its writes. Idempotent; never waits. */
        @Override
        void close();

        /**
         * Ends the group, and makes its writes durable on this thread where handing them to another would take longer
         * than the force itself: while they are small (16 KiB), nobody else writes, the {@link FlushPolicy} has nothing
         * gather, and forces have lately been quick, well under a millisecond. Until it returns, this thread is then a
         * store thread: it calls the callbacks, and must hold no lock that they need. Otherwise, and on every thread
         * but an {@link UninterruptibleThread}, this is {@link #close()}. It never throws for a failed force: the
         * callbacks are told. For an event loop that has read from all its connections.
         */
        default void closeAndFlush() {
            close();
        }
    }

    /**
     * Opens a group: says that several writes follow at once. The store may put off making them durable until the group
     * is closed, so that they share one force, instead of starting with the first and leaving the others to the next.
     * Whoever has work at hand that came together, as an event loop has, opens one:
     *
     * <pre>{@code
     * try (ListStore.Group group = store.group()) {
     *     changes.forEach(change -> store.append(change.id(), change.bytes(), change.callback()));
     * }
     * }</pre>
     *
     * <p>Other writers' writes may wait as well, but no write waits for a group for much longer than a millisecond: a
     * group that stays open longer no longer counts. A read or a {@link #flush()} of what a group has written does not
     * wait for its end. Never waits.
     */
    default Group group() {
        return () -> {};
    }

    /**
     * The stores that this one is put together of, by their numbers: itself, but for a {@link GroupedStore}. They are its
     * own to close.
     */
    default List<ListStore> groups() {
        return List.of(this);
    }

    /** Whether a write would most likely find room now. */
    boolean writable();

    /**
     * Runs the action once when the store is writable: at once on this thread, or later on a store thread. It is run as
     * well when the store fails or closes, so that whoever waits finds out. On a store thread, what the action throws
     * is logged and changes nothing.
     */
    void onWritable(Runnable action);

    /**
     * Where this store's futures complete: the executor that its config names, or a thread of its own, which also runs
     * whatever else it is handed.
     */
    Executor futureExecutor();

    /**
     * Returns when everything accepted so far, at whatever level, is durable at the store's, and its callbacks have been
     * called.
     * Futures complete a little later.
     */
    void flush();

    /** Publishes a checkpoint and returns when that is done. */
    void checkpoint();

    /**
     * Makes everything accepted durable, checkpoints, and lets go of the directory. When it returns, every callback has
     * been called, and every future has completed that completes on the store's own thread (unless it is that thread
     * that closes). Idempotent: a second call returns when the first is done.
     *
     * @throws StoreFailedException when something accepted could not be made durable, and no call has failed for it
     *     before; the directory is let go of all the same
     */
    @Override
    void close();
}
