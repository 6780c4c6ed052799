package io.caravan.catalog;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.Durability;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.NotWritableException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
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
     * Number of entries retained beyond twice the live entries, so that a small catalog is not compacted constantly.
     */
    static final int FLOOR_ENTRIES = 64;
    /** Number of live entries appended again after each change: above 1, so that compaction outpaces the changes. */
    static final int MOVES_PER_CHANGE = 2;

    final ListStore store;
    private final long listId;
    private final int shard;
    private final int shards;
    private final AtomicLong nextId;
    private final ReentrantLock lock = new ReentrantLock();
    /**
     * A ring of the documents in the order of their entries. It starts and ends with an element that is not a document.
     * Guarded by the lock.
     */
    private final CatalogDocument order = new CatalogDocument(new byte[0], 0, Attributes.EMPTY, false);
    /** Number of documents. Written under the lock. */
    private volatile long size;
    /** Sequence of the first retained entry. Guarded by the lock. */
    private long firstSequence;
    /** Sequence of the next entry. Guarded by the lock. */
    private long nextSequence;

    CatalogLog(ListStore store, long listId, int shard, int shards) {
        this.store = store;
        this.listId = listId;
        this.shard = shard;
        this.shards = shards;
        this.nextId = new AtomicLong(shard == 0 ? shards : shard);
    }

    /**
     * Returns an id that has never been assigned, for a new list in this shard; see {@link io.caravan.ShardedStore}.
     */
    long newId() {
        return nextId.getAndAdd(shards);
    }

    long size() {
        return size;
    }

    /** Adds a document that is not in the order yet, as the newest document. */
    void add(CatalogDocument document, long entrySequence) {
        document.entrySequence = entrySequence;
        document.older = order.older;
        document.newer = order;
        order.older.newer = document;
        order.older = document;
        size = size + 1;
    }

    void remove(CatalogDocument document) {
        document.older.newer = document.newer;
        document.newer.older = document.older;
        document.older = document;
        document.newer = document;
        size = size - 1;
    }

    /**
     * Writes an edit's batch, with the entries of the documents whose changes require them, and publishes these changes
     * once the batch is accepted.
     *
     * @throws NotWritableException if the store has no space now, and the write may not wait
     */
    void commit(WriteBatch batch, List<DocumentEdit> changed, WriteCallback callback, boolean mayWait) {
        if (!changed.isEmpty()) {
            commitChanges(batch, changed, new InFlight(changed, callback), mayWait);
            return;
        }
        if (batch.operations().isEmpty()) {
            // Changes nothing, but the callback is called after the callbacks of all writes accepted earlier.
            batch.trimTo(listId, 0);
        }
        write(batch, callback, mayWait);
    }

    private void commitChanges(WriteBatch batch, List<DocumentEdit> changed, InFlight inFlight, boolean mayWait) {
        boolean accepted = false;
        lock.lock();
        try {
            batch.expect(listId, nextSequence);
            long next = nextSequence;
            for (DocumentEdit document : changed) {
                CatalogEntry entry = document.entry(nextId.get(), next);
                if (entry != null) {
                    batch.append(listId, entry.encode());
                    next++;
                }
            }
            write(batch, inFlight, mayWait);
            accepted = true;
            changed.forEach(DocumentEdit::publishToCatalog);
            nextSequence = next;
            compact();
        } finally {
            lock.unlock();
            if (!accepted) {
                inFlight.end();
            }
        }
    }

    private void write(WriteBatch batch, WriteCallback callback, boolean mayWait) {
        if (mayWait) {
            store.write(batch, callback);
        } else if (!store.tryWrite(batch, callback)) {
            throw new NotWritableException("the store");
        }
    }

    /** A callback that counts its batch as in flight in each of the batch's stripes until the callback is called. */
    private static final class InFlight implements WriteCallback {
        private final List<DocumentEdit> changed;
        private final WriteCallback callback;
        private final AtomicBoolean ended = new AtomicBoolean();

        InFlight(List<DocumentEdit> changed, WriteCallback callback) {
            this.changed = changed;
            this.callback = callback;
            changed.forEach(document -> document.stripe.changesInFlight.incrementAndGet());
        }

        /**
         * Stops counting the batch. Only the first call has an effect: a write that fails after the store has accepted
         * it makes two calls, one when it throws an exception and one from its callback.
         */
        void end() {
            if (!ended.getAndSet(true)) {
                changed.forEach(document -> document.stripe.changesInFlight.decrementAndGet());
            }
        }

        @Override
        public void success(long sequence) {
            end();
            callback.success(sequence);
        }

        @Override
        public void failure(CaravanException problem) {
            end();
            callback.failure(problem);
        }
    }

    /**
     * Compacts the list by one batch if compaction is due. If the store rejects the batch, or cannot accept it without
     * waiting, the next change tries again.
     */
    private void compact() {
        try {
            if (nextSequence - firstSequence > 2 * size + FLOOR_ENTRIES && store.writable()) {
                moveOldest();
            }
        } catch (CaravanException rejected) {
            LOG.debug("the catalog's compaction waits: {}", rejected.getMessage());
        }
    }

    private void moveOldest() {
        // Needs no fsync: a crash that undoes this batch also undoes its trim.
        WriteBatch batch = WriteBatch.create().expect(listId, nextSequence).durability(Durability.MEMORY);
        int moves = 0;
        CatalogDocument next = order.newer;
        for (; next != order && moves < MOVES_PER_CHANGE; next = next.newer) {
            CatalogEntry.Kind kind = CatalogEntry.Kind.of(next.listed);
            DocumentName name = DocumentName.of(next.name);
            batch.append(listId, new CatalogEntry(kind, next.id, nextId.get(), name, next.attributes).encode());
            moves++;
        }
        long keepFrom = next != order ? next.entrySequence : nextSequence - (moves == 0 ? 1 : 0);
        batch.trimTo(listId, keepFrom);
        if (store.tryWrite(batch, WriteCallback.completing(new CompletableFuture<>()))) {
            firstSequence = keepFrom;
            for (; moves > 0; moves--) {
                CatalogDocument moved = order.newer;
                remove(moved);
                add(moved, nextSequence++);
            }
        }
    }

    /** Reads the catalog's list, and adds the documents to the catalog. Called once, before any write. */
    void load(Catalog catalog) {
        store.get(listId, (sequence, value) -> {
            firstSequence = nextSequence == 0 ? sequence : firstSequence;
            nextSequence = sequence + 1;
            load(CatalogEntry.decode(value, listId, sequence), sequence, catalog);
            return true;
        });
        CatalogDocument document = order.newer;
        while (document != order) {
            CatalogDocument next = document.newer;
            if (document.listed) {
                findList(document, catalog);
            }
            document = next;
        }
    }

    private void load(CatalogEntry entry, long sequence, Catalog catalog) {
        DocumentName name = entry.name();
        if (catalog.shardOf(name) != shard) {
            throw misplaced("has the document '" + name + "' of shard " + catalog.shardOf(name)
                    + ": the directories of shards were exchanged; put them back");
        }
        if (entry.nextId() % shards != shard) {
            throw misplaced("gave the next document the id " + entry.nextId() + ", which belongs to another shard: the"
                    + " directory was written with another number of shards; restore it");
        }
        nextId.set(entry.nextId());
        DocumentTable stripe = catalog.stripe(name);
        CatalogDocument replaced = stripe.find(name);
        if (replaced != null) {
            stripe.remove(replaced);
            remove(replaced);
        }
        if (entry.kind() != CatalogEntry.Kind.REMOVED) {
            boolean listed = entry.kind() == CatalogEntry.Kind.WITH_LIST;
            CatalogDocument document = new CatalogDocument(name.bytes(), entry.id(), entry.attributes(), listed);
            stripe.add(document);
            add(document, sequence);
        }
    }

    private CorruptStoreException misplaced(String how) {
        return new CorruptStoreException("catalog of shard " + shard, 0, listId, 0, how);
    }

    /** Sets a document's sequences to those of its list. Removes the document if the list does not exist. */
    private void findList(CatalogDocument document, Catalog catalog) {
        ListInfo list = store.info(document.id);
        if (list == null) {
            catalog.stripe(DocumentName.of(document.name)).remove(document);
            remove(document);
        } else {
            document.firstSequence = list.firstSequence();
            document.nextSequence = list.nextSequence();
        }
    }
}
