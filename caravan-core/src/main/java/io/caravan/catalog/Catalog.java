package io.caravan.catalog;

import io.caravan.CorruptStoreException;
import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.NotWritableException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Maps document names to list ids and small attributes. The catalog is stored in one list of the store that contains
 * the documents.
 *
 * <p><b>Atomicity.</b> A change to the catalog (a document's first value, removal, or attributes) is recorded as an
 * entry in that list. The entry and the document's own operation are in one batch, so a crash keeps both or neither. An
 * id is assigned only once. After a reader has resolved a name to an id, the id therefore refers to the same document
 * or to none, but never to another document.
 *
 * <p>The removal of a document that has had values needs no entry: the batch deletes its list, and a document whose
 * list is gone does not exist. A full store can therefore still delete documents.
 *
 * <p><b>Memory</b> contains the state that the store has accepted: names, ids, attributes, and the first and next
 * sequence of each document. A write that the store rejects does not change this state. An accepted write can fail only
 * if the store fails, which is final.
 *
 * <p><b>Locks</b> are taken in this order:
 *
 * <ul>
 *   <li>the stripes of all names of an edit, in ascending order, from {@link #edit(DocumentName)} to {@link
 *       Edit#close()};
 *   <li>the lock of {@link CatalogLog}, around a write with catalog entries;
 *   <li>the store's own lock.
 * </ul>
 *
 * <p>While a write is prepared and accepted, no other thread can change the documents of the write. For example, an
 * append and a concurrent deletion run in one of two orders, and never leave a list without a name. Store callbacks
 * take none of these locks.
 *
 * <p><b>Shards.</b> In a {@link io.caravan.ShardedStore} a document, its list, and its entries are in the shard that
 * the name determines. Each shard has its own list of entries, and an edit affects only one shard.
 *
 * <p>The lists with ids from 1 on belong to the catalog's documents, and must be written only through the catalog. All
 * other lists are available to the store's owner.
 */
public final class Catalog {
    static final int STRIPE_BITS = 10;
    /** Number of stripes into which the names are divided. */
    public static final int STRIPES = 1 << STRIPE_BITS;

    private final ToIntFunction<DocumentName> sharding;
    private final CatalogLog[] logs;
    private final DocumentTable[] stripes = new DocumentTable[STRIPES];

    private Catalog(ListStore store, long listId, ToIntFunction<DocumentName> sharding) {
        this.sharding = sharding;
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new DocumentTable();
        }
        List<ListStore> shards = store.shards();
        logs = new CatalogLog[shards.size()];
        for (int shard = 0; shard < logs.length; shard++) {
            logs[shard] = new CatalogLog(shards.get(shard), listId, shard, logs.length);
            logs[shard].load(this);
        }
    }

    /**
     * Opens the catalog of a store that may have several shards. Each shard has a list with the entries for the shard's
     * documents.
     *
     * @param listId id of this list in each shard: zero or less, because ids from 1 on belong to documents
     * @param sharding returns the number of a document's shard, from 0 and below the number of shards; always the same
     *     for a name
     * @throws CorruptStoreException if an entry is not valid, or is in another shard than its document
     * @throws io.caravan.StoreVersionException if an entry has another version
     */
    public static Catalog open(ListStore store, long listId, ToIntFunction<DocumentName> sharding) {
        if (listId > 0) {
            throw new IllegalArgumentException("listId must be zero or less, was " + listId);
        }
        return new Catalog(store, listId, sharding);
    }

    /** Opens the catalog of a store with one shard, as {@link #open(ListStore, long, ToIntFunction)} does. */
    public static Catalog open(ListStore store, long listId) {
        if (store.shards().size() != 1) {
            throw new IllegalArgumentException("the store has several shards");
        }
        return open(store, listId, name -> 0);
    }

    /** Returns the number of shards. */
    public int shards() {
        return logs.length;
    }

    /** Returns the number of the shard to which a name belongs, counted from 0. */
    public int shardOf(DocumentName name) {
        return logs.length == 1 ? 0 : sharding.applyAsInt(name);
    }

    /**
     * Returns the document with this name, or null if it does not exist. Like a read, waits until the result is
     * durable, except for the sequences: they reflect all writes accepted so far.
     */
    public @Nullable DocumentState find(DocumentName name) {
        DocumentState state = peek(name);
        if (stripe(name).changesInFlight.get() > 0) {
            logs[shardOf(name)].store.flush();
        }
        return state;
    }

    /**
     * Returns the accepted state of the document with this name, or null if it does not exist. Does not wait for
     * writes, so the result may not be durable yet.
     */
    public @Nullable DocumentState peek(DocumentName name) {
        DocumentTable stripe = stripe(name);
        stripe.lock.lock();
        try {
            CatalogDocument document = stripe.find(name);
            return document == null ? null : document.state();
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * Returns the accepted state of the documents whose names are in one stripe, in no particular order. Callers can
     * visit a catalog of any size in bounded steps. A document that exists until all stripes have been visited is
     * returned exactly once. Does not wait for writes, so the result may not be durable until the store is flushed.
     *
     * @param stripe from 0, below {@link #STRIPES}
     * @param wanted whether to return a document with these attributes; called under the stripe's lock
     */
    public List<NamedDocument> list(int stripe, Predicate<Attributes> wanted) {
        DocumentTable table = stripes[stripe];
        List<NamedDocument> found = new ArrayList<>();
        table.lock.lock();
        try {
            table.forEach(document -> {
                if (wanted.test(document.attributes)) {
                    found.add(named(document));
                }
            });
        } finally {
            table.lock.unlock();
        }
        return found;
    }

    /**
     * Passes the documents whose names are in one stripe to {@code action}, in no particular order. No edit of these
     * documents is open during the call. The action runs under the stripe's lock, so it must be quick, and must not
     * wait for the store.
     *
     * @param stripe from 0, below {@link #STRIPES}
     */
    public void whileUnchanged(int stripe, Consumer<List<NamedDocument>> action) {
        DocumentTable table = stripes[stripe];
        table.lock.lock();
        try {
            action.accept(list(stripe, attributes -> true));
        } finally {
            table.lock.unlock();
        }
    }

    /** Returns the number of a name's stripe, which is at least 0 and less than {@link #STRIPES}. */
    public static int stripeOf(DocumentName name) {
        return name.hashCode() & STRIPES - 1;
    }

    /**
     * A page of documents, in their accepted state.
     *
     * @param documents the documents of the page
     * @param next cursor of the next page; 0 if this is the last page
     */
    public record Page(List<NamedDocument> documents, long next) {}

    /**
     * Returns a page of all documents. A document that exists from the first page to the last is on exactly one page.
     * Like {@link #list}, does not wait for writes.
     *
     * @param cursor 0 for the first page, then {@link Page#next()}
     * @param limit maximum number of documents, 1 or more; the page may have fewer, or none
     * @throws IllegalArgumentException if the cursor is below zero, or the limit below one
     */
    public Page page(long cursor, int limit) {
        if (cursor < 0 || limit < 1) {
            throw new IllegalArgumentException("there is no cursor " + cursor + ", or no page of " + limit);
        }
        // The high half contains the tie, which is nonzero only between documents with the same hash. The low half
        // contains the stripe and the place.
        int tie = (int) (cursor >>> Integer.SIZE);
        int stripe = (int) cursor >>> DocumentTable.PLACE_BITS;
        int place = (int) cursor & (1 << DocumentTable.PLACE_BITS) - 1;
        List<NamedDocument> found = new ArrayList<>();
        for (; stripe < STRIPES && found.size() < limit; stripe++) {
            long next = addPage(stripe, place, tie, limit, found);
            if (next != 0) {
                return new Page(found, next);
            }
            place = 0;
            tie = 0;
        }
        return new Page(found, stripe == STRIPES ? 0 : cursor(stripe, 0, 0));
    }

    /**
     * Adds documents of a stripe to a page until the page is full. Returns the cursor of the next page; 0 if the stripe
     * is done.
     */
    private long addPage(int stripe, int place, int tie, int limit, List<NamedDocument> page) {
        DocumentTable table = stripes[stripe];
        table.lock.lock();
        try {
            int room = limit - page.size();
            List<CatalogDocument> documents = table.from(place, tie, room + 1);
            documents.subList(0, Math.min(room, documents.size())).forEach(document -> page.add(named(document)));
            if (documents.size() <= room) {
                return 0;
            }
            CatalogDocument next = documents.get(room);
            int at = DocumentTable.place(next);
            boolean tied = DocumentTable.place(documents.get(room - 1)) == at;
            return cursor(stripe, at, tied ? DocumentTable.tie(next) : 0);
        } finally {
            table.lock.unlock();
        }
    }

    private static NamedDocument named(CatalogDocument document) {
        return new NamedDocument(DocumentName.of(document.name), document.state());
    }

    private static long cursor(int stripe, int place, int tie) {
        return (long) tie << Integer.SIZE | Integer.toUnsignedLong(stripe << DocumentTable.PLACE_BITS | place);
    }

    /** Returns the number of documents. Never waits. */
    public long size() {
        return Arrays.stream(logs).mapToLong(CatalogLog::size).sum();
    }

    /**
     * Appends values to a document that has had values, without an {@link Edit}. Waits while an edit holds the lock of the
     * name's stripe, but not for space in the store.
     *
     * @param values at least one
     * @param level the durability that the values must reach before the callback is called
     * @param accepts whether to append to a document in this state; called under the stripe's lock
     * @param callback returns the callback of the write, from the document's state after the append; called under the
     *     stripe's lock
     * @return false if the document never had a value, or {@code accepts} returned false; nothing has changed then
     * @throws NotWritableException if the store has no space now. This exception, like those that {@link
     *     io.caravan.ListStore#write} throws, means that nothing has changed
     */
    public boolean append(
            DocumentName name,
            List<byte[]> values,
            Durability level,
            Predicate<DocumentState> accepts,
            Function<DocumentState, WriteCallback> callback) {
        DocumentTable stripe = stripe(name);
        stripe.lock.lock();
        try {
            CatalogDocument document = stripe.find(name);
            if (document == null || !document.listed || !accepts.test(document.state())) {
                return false;
            }
            WriteBatch batch = WriteBatch.create().durability(level);
            for (byte[] value : values) {
                batch.append(document.id, value);
            }
            long next = document.nextSequence + values.size();
            DocumentState after = new DocumentState(document.id, document.firstSequence, next, document.attributes);
            logs[shardOf(name)].commit(batch, List.of(), callback.apply(after), false);
            document.nextSequence = next;
            return true;
        } finally {
            stripe.lock.unlock();
        }
    }

    /** Opens an edit of one document. Waits while another edit holds the lock of the name's stripe. */
    public Edit edit(DocumentName name) {
        CatalogLog log = logs[shardOf(name)];
        DocumentTable stripe = stripe(name);
        stripe.lock.lock();
        WriteBatch batch = WriteBatch.create();
        DocumentEdit document = new DocumentEdit(name, stripe, log, batch);
        return new Edit(log, new DocumentEdit[] {document}, Map.of(), batch);
    }

    /**
     * Opens an edit of several documents. Waits while another edit holds the lock of any of the names' stripes.
     *
     * @throws IllegalArgumentException if the documents are not in one shard
     */
    public Edit edit(Collection<DocumentName> names) {
        if (!inOneShard(names)) {
            throw new IllegalArgumentException("the documents are not in one shard");
        }
        CatalogLog log = logs[names.isEmpty() ? 0 : shardOf(names.iterator().next())];
        // Locks a stripe once for each of its documents, as often as the edit unlocks it.
        names.stream().distinct().mapToInt(Catalog::stripeOf).sorted().forEach(stripe -> stripes[stripe].lock.lock());
        WriteBatch batch = WriteBatch.create();
        Map<DocumentName, DocumentEdit> documents = new LinkedHashMap<>();
        for (DocumentName name : names) {
            documents.computeIfAbsent(name, n -> new DocumentEdit(n, stripe(n), log, batch));
        }
        return new Edit(log, documents.values().toArray(DocumentEdit[]::new), documents, batch);
    }

    /** Whether the documents with these names are all in one shard, so that one edit can change them. */
    public boolean inOneShard(Collection<DocumentName> names) {
        return logs.length == 1
                || names.stream().mapToInt(this::shardOf).distinct().count() <= 1;
    }

    DocumentTable stripe(DocumentName name) {
        return stripes[stripeOf(name)];
    }
}
