package io.caravan;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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
 * its callback is never told. A write that was accepted tells its callback exactly once: {@code success} when it is
 * durable at the store's {@link Durability} level, or {@code failure} when the store failed first. Callbacks run on a
 * store thread, in the order in which the store accepted the writes, and must not block. There, on a store thread, every
 * read ({@code get}, {@code read}, {@code info}, {@code forEachList}), {@code flush}, {@code checkpoint} and {@code
 * close} throws {@link IllegalStateException}: it might have to wait for the very thread that calls it. Writes, {@code
 * writable}, {@code onWritable} and {@code stats} work.
 *
 * <p><b>Reads</b> see only what is durable: a read waits for the list's last accepted change, usually microseconds, and
 * then sees the list as it is at one moment, whatever is trimmed or deleted meanwhile. What a thread wrote before, told
 * or not, it reads. A stream runs outside the store's locks: it may be slow, may read and write in turn, and what it
 * throws reaches the reader.
 *
 * <p><b>Backpressure.</b> When the log's buffers are full, a write waits for room. A thread that must never wait (an
 * event loop, a callback) asks {@link #writable()} first and leaves an action with {@link #onWritable(Runnable)}.
 *
 * <p><b>Threading.</b> All methods may be called by any number of threads. Interrupting a thread inside any of them is
 * harmless: no caller's thread does channel I/O; the interrupt status is kept.
 *
 * <p>Every method but {@link #close()} and {@link #stats()} throws {@link StoreClosedException} once the store is
 * closed, and every write throws {@link StoreFailedException} once it has failed.
 */
public interface ListStore extends AutoCloseable {

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
     * Appends one value; the future completes with the value's sequence once it is durable, or with the exception that
     * {@link #append(long, byte[], WriteCallback)} would have thrown or told. Only a null value is thrown.
     */
    default CompletableFuture<Long> append(long id, byte[] value) {
        CompletableFuture<Long> future = new CompletableFuture<>();
        try {
            append(id, value, WriteCallback.completing(future));
        } catch (CaravanException refused) {
            future.completeExceptionally(refused);
        }
        return future;
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
     * Drops {@code count} entries from the list's head; all of them when it has fewer. The callback gets the sequence
     * of the first entry that is retained, or that the next append will get when none is. A missing list stays missing,
     * which is a success; the callback gets 0.
     *
     * @param count zero or more
     */
    void trim(long id, long count, WriteCallback callback);

    /**
     * Drops all entries before {@code firstSequence}; all entries when the list ends before it. Idempotent. The
     * callback gets what that of {@link #trim} gets.
     *
     * @param firstSequence zero or more
     */
    void trimTo(long id, long firstSequence, WriteCallback callback);

    /** Deletes the list. Deleting a missing list is a success. The callback gets -1. */
    void delete(long id, WriteCallback callback);

    /** What the list holds, or null when there is no such list. Waits as a read does, so it tells only what is durable. */
    @Nullable
    ListInfo info(long id);

    /**
     * Calls {@code ids} with the id of every list, in no particular order. Waits as a read does, so it tells only lists
     * that are durable; those created or deleted meanwhile may be told or not. The action runs outside the store's locks.
     */
    void forEachList(LongConsumer ids);

    /** Counters and gauges of this moment. */
    StoreStats stats();

    /** Collects the retained entries of a list; for lists that are known to fit in memory. */
    default List<Entry> read(long id) {
        List<Entry> entries = new ArrayList<>();
        get(id, new EntryStream() {
            @Override
            public boolean next(long sequence, ByteBuffer value) {
                byte[] bytes = new byte[value.remaining()];
                value.get(bytes);
                entries.add(new Entry(sequence, bytes));
                return true;
            }

            @Override
            public void finished() {}
        });
        return entries;
    }

    /** Writes that follow each other at once, from {@link #group()} until it is closed. */
    interface Group extends AutoCloseable {

        /** Ends the group, on any thread and whatever has become of its writes. Idempotent; never waits. */
        @Override
        void close();
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

    /** Whether a write would find room now. */
    boolean writable();

    /**
     * Runs the action once, at once on this thread or later on a store's, when the store is writable. It is run as well
     * when the store fails or closes, so that whoever waits finds out. On a store thread, what the action throws is logged
     * and changes nothing.
     */
    void onWritable(Runnable action);

    /** Returns when everything accepted so far is durable at the store's level and its callbacks have been told. */
    void flush();

    /** Publishes a checkpoint and returns when that is done. A store that keeps nothing on disk has nothing to do. */
    void checkpoint();

    /**
     * Makes everything accepted durable, checkpoints, and lets go of the directory. Every callback has been told when it
     * returns. Idempotent: a second call returns when the first is done.
     *
     * @throws StoreFailedException when something accepted could not be made durable, and no call has failed for it
     *     before; the directory is let go of all the same
     */
    @Override
    void close();
}
