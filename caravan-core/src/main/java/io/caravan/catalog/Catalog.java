package io.caravan.catalog;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Document names to list ids, plus small attributes per document, kept in one list of the store that also holds the
 * documents.
 *
 * <p><b>Never apart.</b> What changes the catalog (a document's first value, its removal, its attributes) is an entry
 * in that list, written in the same batch as the document's own operation: a crash keeps both or neither. An id is
 * given out once, so a reader that has resolved a name can meet its document, or its absence, but never another
 * document. The removal of a document that has had values needs no entry: the batch deletes its list, and a document
 * whose list is gone is gone too. So a full store can still delete.
 *
 * <p><b>What is in memory</b> is what the store has accepted: names, ids, attributes, and the first and next sequence
 * of each document. A write that the store refuses changes nothing here; one that it has accepted can fail only with
 * the store itself, which is final.
 *
 * <p><b>Locks, in order:</b> (1) the stripes of all names of an edit, by rising number, from
 * {@link #edit(DocumentName)} to {@link Edit#close()}; (2) the lock of {@link CatalogLog}, around a write with catalog
 * entries; (3) the store's own. So a write is decided on and accepted while no other thread can change what its names
 * mean: an append races a deletion into one of two orders, and never ends in a list without a name. Store callbacks
 * take none of them.
 *
 * <p><b>Groups.</b> In a {@link io.caravan.GroupedStore} a document is in the group that its name falls in, with its list
 * and its entries: each group has a list of entries of its own, and an edit concerns one group.
 *
 * <p>The lists with ids from 1 on belong to the catalog's documents and must be written only through it. All other
 * lists are free for the store's owner to use.
 */
public final class Catalog {
    static final int STRIPE_BITS = 10;
    /** Number of parts that the names are divided into. */
    public static final int STRIPES = 1 << STRIPE_BITS;

    private final ListStore store;
    private final long listId;
    private final ToIntFunction<DocumentName> grouping;
    private final CatalogLog[] logs;
    private final DocumentTable[] stripes = new DocumentTable[STRIPES];

    private Catalog(ListStore store, long listId, ToIntFunction<DocumentName> grouping) {
        this.store = store;
        this.listId = listId;
        this.grouping = grouping;
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new DocumentTable();
        }
        List<ListStore> groups = store.groups();
        logs = new CatalogLog[groups.size()];
        for (int group = 0; group < logs.length; group++) {
            logs[group] = new CatalogLog(groups.get(group), listId, group, logs.length);
            TableLoader loader = new TableLoader(group);
            logs[group].load(loader);
            logs[group].findLists(loader);
        }
    }

    /**
     * Opens the catalog of a store that may have several groups. Each has a list with the entries of its documents.
     *
     * @param listId the list of each group that holds it, zero or less, because ids from 1 on are the documents'
     * @param grouping the group of a document, from 0, below the number of groups; always the same
     * @throws CorruptStoreException when an entry is not one that a catalog writes, or is in another group
     *     than its document
     * @throws io.caravan.StoreVersionException when an entry is of another version
     */
    public static Catalog open(ListStore store, long listId, ToIntFunction<DocumentName> grouping) {
        if (listId > 0) {
            throw new IllegalArgumentException("listId must be zero or less, was " + listId);
        }
        return new Catalog(store, listId, grouping);
    }

    /**
     * Opens the catalog of a store that is not in groups.
     *
     * @param listId the list that holds it, zero or less, because ids from 1 on are the documents'
     * @throws CorruptStoreException when an entry is not one that a catalog writes
     * @throws io.caravan.StoreVersionException when an entry is of another version
     */
    public static Catalog open(ListStore store, long listId) {
        if (store.groups().size() != 1) {
            throw new IllegalArgumentException("the store has groups");
        }
        return open(store, listId, name -> 0);
    }

    /** Number of groups that the documents are in. */
    public int groups() {
        return logs.length;
    }

    /** The group that a name falls in, from 0. */
    public int groupOf(DocumentName name) {
        return logs.length == 1 ? 0 : grouping.applyAsInt(name);
    }

    /**
     * The document with this name, or null when there is none. Waits, as a read does, until what it returns from the
     * catalog is durable; the sequences are those accepted so far.
     */
    public @Nullable DocumentState find(DocumentName name) {
        DocumentTable stripe = stripe(name);
        DocumentState state = null;
        boolean inFlight;
        stripe.lock.lock();
        try {
            Document document = stripe.find(name);
            if (document != null) {
                state = document.state();
            }
            inFlight = stripe.changesInFlight.get() > 0;
        } finally {
            stripe.lock.unlock();
        }
        if (inFlight) {
            logs[groupOf(name)].flush();
        }
        return state;
    }

    /**
     * The document with this name as accepted so far, which may not be durable yet, or null when there is none. Does
     * not wait for any write.
     */
    public @Nullable DocumentState peek(DocumentName name) {
        DocumentTable stripe = stripe(name);
        stripe.lock.lock();
        try {
            Document document = stripe.find(name);
            return document == null ? null : document.state();
        } finally {
            stripe.lock.unlock();
        }
    }

    /**
     * The documents whose names fall in one stripe, as they were accepted and in no order: a way to go through a
     * catalog of any size in bounded steps. A document that exists throughout is returned exactly once over all
     * stripes. Does not wait for any write, so what is returned may not be durable until the store is flushed.
     *
     * @param stripe from 0, below {@link #STRIPES}
     * @param wanted decides by a document's attributes whether to return it; called under the stripe's lock
     */
    public List<NamedDocument> list(int stripe, Predicate<Attributes> wanted) {
        DocumentTable table = stripes[stripe];
        List<NamedDocument> found = new ArrayList<>();
        table.lock.lock();
        try {
            table.forEach(document -> {
                if (wanted.test(document.attributes)) {
                    found.add(new NamedDocument(DocumentName.of(document.name), document.state()));
                }
            });
        } finally {
            table.lock.unlock();
        }
        return found;
    }

    /**
     * Hands the documents whose names fall in one stripe to {@code action}, in no order, while no edit of one of them is
     * open: under the stripe's lock, so it must be quick, and must not wait for the store.
     *
     * @param stripe from 0, below {@link #STRIPES}
     */
    public void whileUnchanged(int stripe, Consumer<List<NamedDocument>> action) {
        DocumentTable table = stripes[stripe];
        table.lock.lock();
        try {
            List<NamedDocument> all = new ArrayList<>();
            table.forEach(document -> all.add(new NamedDocument(DocumentName.of(document.name), document.state())));
            action.accept(all);
        } finally {
            table.lock.unlock();
        }
    }

    /** The stripe that a name falls in, from 0, below {@link #STRIPES}. */
    public static int stripeOf(DocumentName name) {
        return name.hashCode() & STRIPES - 1;
    }

    /**
     * Some of the documents, as they were accepted.
     *
     * @param documents those of the page
     * @param next where the next page begins, 0 when this is the last
     */
    public record Page(List<NamedDocument> documents, long next) {}

    /**
     * A page of all documents: a way to go through a catalog of any size in steps of any size. A document that exists
     * all the while is on exactly one page. Waits for no write, as {@link #list} does.
     *
     * @param cursor 0 for the first page, then {@link Page#next()}
     * @param limit greatest number of documents, 1 or more; there may be fewer, even none
     * @throws IllegalArgumentException when the cursor is below zero, or the limit below one
     */
    public Page page(long cursor, int limit) {
        if (cursor < 0 || limit < 1) {
            throw new IllegalArgumentException("there is no cursor " + cursor + ", or no page of " + limit);
        }
        // A tie in the high half, which is zero but between documents of one hash; then stripe and place.
        int tie = (int) (cursor >>> Integer.SIZE);
        int stripe = (int) cursor >>> DocumentTable.PLACE_BITS;
        int place = (int) cursor & (1 << DocumentTable.PLACE_BITS) - 1;
        List<NamedDocument> found = new ArrayList<>();
        while (found.size() < limit) {
            long next = addPage(stripe, place, tie, limit, found);
            if (next != 0) {
                return new Page(found, next);
            }
            stripe++;
            place = 0;
            tie = 0;
            if (stripe == STRIPES) {
                return new Page(found, 0);
            }
        }
        return new Page(found, cursor(stripe, 0, 0));
    }

    /** Adds documents of a stripe until the page is full; returns where the next page begins, 0 when the stripe is done. */
    private long addPage(int stripe, int place, int tie, int limit, List<NamedDocument> page) {
        DocumentTable table = stripes[stripe];
        table.lock.lock();
        try {
            int room = limit - page.size();
            List<Document> documents = table.from(place, tie, room + 1);
            for (Document document : documents.subList(0, Math.min(room, documents.size()))) {
                page.add(new NamedDocument(DocumentName.of(document.name), document.state()));
            }
            if (documents.size() <= room) {
                return 0;
            }
            Document next = documents.get(room);
            int at = DocumentTable.place(next);
            boolean tied = DocumentTable.place(documents.get(room - 1)) == at;
            return cursor(stripe, at, tied ? DocumentTable.tie(next) : 0);
        } finally {
            table.lock.unlock();
        }
    }

    private static long cursor(int stripe, int place, int tie) {
        return (long) tie << Integer.SIZE | Integer.toUnsignedLong(stripe << DocumentTable.PLACE_BITS | place);
    }

    /** Number of documents; does not wait. */
    public long size() {
        long documents = 0;
        for (CatalogLog log : logs) {
            documents += log.size();
        }
        return documents;
    }

    /** Number of entries that the catalog's list retains, live or not; of all groups. */
    long retainedEntries() {
        return Stream.of(logs).mapToLong(CatalogLog::retained).sum();
    }

    /** Starts an edit of one document. Waits while another edit has a name of the same stripe. */
    public Edit edit(DocumentName name) {
        DocumentTable stripe = stripe(name);
        stripe.lock.lock();
        CatalogLog log = logs[groupOf(name)];
        WriteBatch batch = WriteBatch.create();
        return new Edit(this, log, stripe, new DocumentEdit(name, stripe, log, batch), batch);
    }

    /**
     * Starts an edit of several documents. Waits while another edit has a name of one of their stripes.
     *
     * @throws IllegalArgumentException when they are not in one group
     */
    public Edit edit(Collection<DocumentName> names) {
        CatalogLog log = logOf(names);
        DocumentTable[] locked = lockStripes(names);
        WriteBatch batch = WriteBatch.create();
        Map<DocumentName, DocumentEdit> documents = new LinkedHashMap<>();
        for (DocumentName name : names) {
            documents.computeIfAbsent(name, n -> new DocumentEdit(n, stripe(n), log, batch));
        }
        return new Edit(this, log, locked, documents, batch);
    }

    private CatalogLog logOf(Collection<DocumentName> names) {
        if (!inOneGroup(names)) {
            throw new IllegalArgumentException("the documents are not in one group");
        }
        return names.isEmpty() ? logs[0] : logs[groupOf(names.iterator().next())];
    }

    /** Whether documents of these names can be changed together. */
    public boolean inOneGroup(Collection<DocumentName> names) {
        return logs.length == 1
                || names.stream().mapToInt(this::groupOf).distinct().count() <= 1;
    }

    private DocumentTable[] lockStripes(Collection<DocumentName> names) {
        int[] numbers =
                names.stream().mapToInt(Catalog::stripeOf).sorted().distinct().toArray();
        DocumentTable[] locked = new DocumentTable[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            locked[i] = stripes[numbers[i]];
            locked[i].lock.lock();
        }
        return locked;
    }

    private DocumentTable stripe(DocumentName name) {
        return stripes[stripeOf(name)];
    }

    /** Writes an edit's batch; {@code changed} are its documents whose changes concern the catalog. */
    void commit(CatalogLog log, WriteBatch batch, List<DocumentEdit> changed, WriteCallback callback) {
        if (!changed.isEmpty()) {
            commitChanges(log, batch, changed, callback);
            return;
        }
        if (batch.operations().isEmpty()) {
            // Changes nothing, but its callback is called after those of everything accepted before.
            log.addBarrier(batch);
        }
        log.write(batch, callback);
    }

    private static void commitChanges(
            CatalogLog log, WriteBatch batch, List<DocumentEdit> changed, WriteCallback callback) {
        InFlight inFlight = new InFlight(changed, callback);
        boolean accepted = false;
        try {
            log.write(batch, changed, inFlight);
            accepted = true;
        } finally {
            if (!accepted) {
                inFlight.end();
            }
        }
    }

    /** Counts a batch as in flight, in each of its stripes, until its callback is notified. */
    private static final class InFlight implements WriteCallback {
        private final List<DocumentEdit> changed;
        private final WriteCallback callback;
        private final AtomicBoolean ended = new AtomicBoolean();

        InFlight(List<DocumentEdit> changed, WriteCallback callback) {
            this.changed = changed;
            this.callback = callback;
            changed.forEach(document -> document.stripe().changesInFlight.incrementAndGet());
        }

        /** Counts once, though a write that was accepted may end here and by its callback. */
        void end() {
            if (!ended.getAndSet(true)) {
                changed.forEach(document -> document.stripe().changesInFlight.decrementAndGet());
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

    /** Fills the tables when the catalog is opened. */
    private final class TableLoader implements CatalogLog.Loader {
        private final int group;

        TableLoader(int group) {
            this.group = group;
        }

        @Override
        public @Nullable Document remove(CatalogEntry entry) {
            DocumentName name = DocumentName.of(entry.name());
            if (groupOf(name) != group) {
                throw misplaced("has the document '" + name + "' of group " + groupOf(name)
                        + ": folders of groups were exchanged; put them back");
            }
            if (!isOfGroup(entry.nextId())) {
                throw misplaced("gave the next document the id " + entry.nextId() + ", which is another group's: the"
                        + " folder was written to with another number of groups; restore it");
            }
            Document document = stripe(name).find(name);
            if (document != null) {
                stripe(name).remove(document);
            }
            return document;
        }

        private boolean isOfGroup(long id) {
            return id % logs.length == group;
        }

        private CorruptStoreException misplaced(String how) {
            return new CorruptStoreException("catalog of group " + group, 0, listId, 0, how);
        }

        @Override
        public Document add(CatalogEntry entry) {
            Document document = new Document(
                    entry.name(), entry.id(), entry.attributes(), entry.kind() == CatalogEntry.Kind.WITH_LIST);
            stripe(DocumentName.of(entry.name())).add(document);
            return document;
        }

        @Override
        public boolean findList(Document document) {
            ListInfo info = store.info(document.id);
            if (info == null) {
                stripe(DocumentName.of(document.name)).remove(document);
                return false;
            }
            document.firstSequence = info.firstSequence();
            document.nextSequence = info.nextSequence();
            return true;
        }
    }
}
