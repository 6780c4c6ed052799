package io.caravan.catalog;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.EntryStream;
import io.caravan.ListStore;
import io.caravan.NotWritableException;
import io.caravan.UninterruptibleThread;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The catalog's list: one entry for each change, oldest first.
 *
 * <p><b>Rolling compaction.</b> An entry is live while it is the newest entry of an existing document. If the list
 * retains more entries than twice the number of live entries plus {@code FLOOR_ENTRIES}, each change is followed by a
 * small batch. This batch appends the two oldest live entries again and trims the list to the next live entry.
 *
 * <p>The number of retained entries is therefore never more than about three times the number of live entries. Every
 * change has about the same cost, and a compaction never rewrites all entries at once. The newest entry is never
 * trimmed, because it contains the next id.
 *
 * <p>A writer takes this log's lock after the stripes' locks, and holds it during each write to the list. The sequence
 * of each new entry is therefore known before the write; an expectation in every batch enforces this.
 */
final class CatalogLog {
    private static final Logger LOG = LoggerFactory.getLogger(CatalogLog.class);
    /**
     * Number of entries retained in addition to twice the number of live entries, so that a small catalog is not
     * compacted constantly.
     */
    static final int FLOOR_ENTRIES = 64;
    /**
     * Number of live entries appended again after each change. The number exceeds 1 so that compaction outpaces the
     * changes.
     */
    static final int MOVES_PER_CHANGE = 2;

    private static final WriteCallback NO_CALLBACK = new WriteCallback() {
        @Override
        public void success(long sequence) {}

        @Override
        public void failure(CaravanException problem) {}
    };

    private final ListStore store;
    private final long listId;
    private final ReentrantLock lock = new ReentrantLock();
    private final int shards;
    private final AtomicLong nextId;
    /** The documents in the order of their entries. Guarded by the lock. */
    private final EntryOrder order = new EntryOrder();
    /** Sequence of the first retained entry. Guarded by the lock. */
    private long firstSequence;
    /** Sequence of the next entry. Guarded by the lock. */
    private long nextSequence;

    /**
     * Creates the log in the store of a shard.
     *
     * @param shard number of the shard, below {@code shards}
     * @param shards number of shards
     */
    CatalogLog(ListStore store, long listId, int shard, int shards) {
        this.store = store;
        this.listId = listId;
        this.shards = shards;
        this.nextId = new AtomicLong(shard == 0 ? shards : shard);
    }

    /**
     * Returns an id that has never been assigned, for a new list in this log's shard; see {@link
     * io.caravan.ShardedStore}.
     */
    long newId() {
        return nextId.getAndAdd(shards);
    }

    /**
     * Writes a batch that needs no catalog entries.
     *
     * @throws NotWritableException if the store has no space now, and this thread runs an event loop
     */
    void write(WriteBatch batch, WriteCallback callback) {
        if (!(Thread.currentThread() instanceof UninterruptibleThread)) {
            store.write(batch, callback);
        } else if (!store.tryWrite(batch, callback)) {
            throw new NotWritableException("the store");
        }
    }

    /** Waits until all writes accepted so far in the log's shard are durable. */
    void flush() {
        store.flush();
    }

    /** Returns the number of documents. Never waits. */
    long size() {
        return order.size();
    }

    long retained() {
        lock.lock();
        try {
            return nextSequence - firstSequence;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Writes the batch with the entries of the changed documents, and publishes the changes once the batch is accepted.
     *
     * @throws NotWritableException if the store has no space now, and this thread runs an event loop
     */
    void write(WriteBatch batch, List<DocumentEdit> changed, WriteCallback callback) {
        lock.lock();
        try {
            batch.expect(listId, nextSequence);
            long[] sequences = appendEntries(batch, changed);
            write(batch, callback);
            for (int i = 0; i < changed.size(); i++) {
                changed.get(i).publishToCatalog(order, sequences[i]);
            }
            nextSequence = sequences[changed.size()];
            compact();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds an operation that changes nothing, so that the batch's callback keeps its place in the order of callbacks.
     */
    void addBarrier(WriteBatch batch) {
        batch.trimTo(listId, 0);
    }

    /**
     * Adds the entries for the changes to the batch. Returns their sequences, followed by the sequence of the next
     * entry.
     */
    private long[] appendEntries(WriteBatch batch, List<DocumentEdit> changed) {
        long[] sequences = new long[changed.size() + 1];
        sequences[0] = nextSequence;
        for (int i = 0; i < changed.size(); i++) {
            CatalogEntry entry = changed.get(i).entry(nextId.get());
            if (entry != null) {
                batch.append(listId, entry.encode());
            }
            sequences[i + 1] = sequences[i] + (entry == null ? 0 : 1);
        }
        return sequences;
    }

    /**
     * Compacts the list by one batch if compaction is due. If the store rejects the batch, or cannot accept it without
     * waiting, the next change tries again.
     */
    private void compact() {
        if (nextSequence - firstSequence <= 2 * order.size() + FLOOR_ENTRIES || !store.writable()) {
            return;
        }
        // Needs no fsync: a crash that undoes this batch also undoes its trim.
        WriteBatch batch = WriteBatch.create().expect(listId, nextSequence).durability(Durability.MEMORY);
        int moves = 0;
        CatalogDocument next = order.oldest();
        while (next != null && moves < MOVES_PER_CHANGE) {
            batch.append(listId, entry(next).encode());
            moves++;
            next = next.newer;
        }
        long keepFrom = next != null ? next.entrySequence : nextSequence - (moves == 0 ? 1 : 0);
        batch.trimTo(listId, keepFrom);
        try {
            if (!store.tryWrite(batch, NO_CALLBACK)) {
                return;
            }
        } catch (CaravanException rejected) {
            LOG.debug("the catalog's compaction waits: {}", rejected.getMessage());
            return;
        }
        firstSequence = keepFrom;
        for (int i = 0; i < moves; i++) {
            moveOldest();
        }
    }

    private CatalogEntry entry(CatalogDocument document) {
        CatalogEntry.Kind kind = document.listed ? CatalogEntry.Kind.WITH_LIST : CatalogEntry.Kind.WITHOUT_LIST;
        return new CatalogEntry(kind, document.id, nextId.get(), document.name, document.attributes);
    }

    private void moveOldest() {
        CatalogDocument moved = order.oldest();
        if (moved != null) {
            order.remove(moved);
            moved.entrySequence = nextSequence++;
            order.add(moved);
        }
    }

    /** Reads the catalog's list, and adds the documents to the tables. Called once, before any write. */
    void load(Catalog.TableLoader loader) {
        store.get(listId, new EntryStream() {
            private boolean started;

            @Override
            public boolean next(long sequence, ByteBuffer value) {
                if (!started) {
                    firstSequence = sequence;
                    started = true;
                }
                nextSequence = sequence + 1;
                CatalogEntry entry = CatalogEntry.decode(value, listId, sequence);
                nextId.set(entry.nextId());
                take(entry, sequence, loader);
                return true;
            }
        });
    }

    private void take(CatalogEntry entry, long sequence, Catalog.TableLoader loader) {
        CatalogDocument replaced = loader.remove(entry);
        if (replaced != null) {
            order.remove(replaced);
        }
        if (entry.kind() != CatalogEntry.Kind.REMOVED) {
            CatalogDocument document = loader.add(entry);
            document.entrySequence = sequence;
            order.add(document);
        }
    }

    /** Removes the documents whose lists no longer exist, and sets the sequences of the other documents. */
    void findLists(Catalog.TableLoader loader) {
        CatalogDocument document = order.oldest();
        while (document != null) {
            CatalogDocument newer = document.newer;
            if (document.listed && !loader.findList(document)) {
                order.remove(document);
            }
            document = newer;
        }
    }

    /**
     * The documents in the order of the entries that describe them. Guarded by the lock of {@link CatalogLog}, except
     * for {@link #size()}.
     */
    static final class EntryOrder {
        private @Nullable CatalogDocument oldest;
        private @Nullable CatalogDocument newest;
        /** Number of documents; may be read without the lock. */
        private volatile long size;

        @Nullable
        CatalogDocument oldest() {
            return oldest;
        }

        long size() {
            return size;
        }

        /** Adds a document that is not in the order yet, as the newest document. */
        void add(CatalogDocument document) {
            document.older = newest;
            document.newer = null;
            if (newest == null) {
                oldest = document;
            } else {
                newest.newer = document;
            }
            newest = document;
            size = size + 1;
        }

        void remove(CatalogDocument document) {
            if (document.older == null) {
                oldest = document.newer;
            } else {
                document.older.newer = document.newer;
            }
            if (document.newer == null) {
                newest = document.older;
            } else {
                document.newer.older = document.older;
            }
            document.older = null;
            document.newer = null;
            size = size - 1;
        }
    }
}
