package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.StoreLayout;
import io.caravan.StoreStats;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.NamedDocument;
import io.caravan.server.cluster.Slots;
import io.caravan.server.document.Addition.Added;
import io.caravan.server.document.Creation.Created;
import io.caravan.server.document.Creation.ForkPoint;
import io.caravan.server.document.Creation.SourceValue;
import io.caravan.server.document.DocumentWrites.Write;
import io.caravan.server.document.space.Promise;
import io.caravan.server.document.space.Spaces;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The documents of one store, by name, with their attributes.
 *
 * <p><b>Changes</b> are checked and accepted immediately, on the calling thread; their {@link Outcome} follows when
 * they are durable. They wait when the store has no room: a thread that must not wait checks {@link #writable()} first.
 * A change of a document's values and attributes is one batch: a crash keeps all of it or nothing.
 *
 * <p><b>Reads</b> wait until what they return is durable, so they are for threads that may wait. A read that starts
 * after a change was accepted sees the change.
 *
 * <p><b>Deleted and expired</b> documents do not exist. A deleted one whose forks need its values is {@link
 * DocumentException.Reason#GONE}: its name stays taken until the last of them is deleted too. Those that were moved
 * to another server do not exist here either: whoever asks for one is told where it is, by a {@link MovedException}.
 */
public final class DocumentService implements AutoCloseable {
    /** The store's list that holds the catalog. */
    public static final long CATALOG_LIST_ID = 0;

    /** Number of parts into which the documents' names are divided. */
    public static final int STRIPES = Catalog.STRIPES;

    private static final Logger LOG = LoggerFactory.getLogger(DocumentService.class);

    private final ListStore store;
    private final Catalog catalog;
    private final Expiry expiry;
    private final DocumentReads reads;
    private final DeletionJournals deletions;
    private final Spaces spaces;
    private final DocumentWrites writes;
    private final Tails tails = new Tails();
    private final ExpirySweeper sweeper;
    private final Map<Executor, LoopTurn> turns = new ConcurrentHashMap<>();
    private final String run = HexFormat.of().toHexDigits(new SecureRandom().nextLong());
    private volatile @Nullable UUID storeIdentity;
    private volatile boolean incomplete;
    private volatile ReadBarrier readBarrier = ReadBarrier.NONE;

    /** Opens the catalog of a store, whose documents fall into its groups by their slots. */
    public static Catalog catalogOf(ListStore store) {
        int groups = store.groups().size();
        return Catalog.open(store, CATALOG_LIST_ID, name -> Slots.group(name.toBytes(), groups));
    }

    /** Uses the system's clocks; the space of expired documents is free again within about a minute. */
    public DocumentService(ListStore store, Catalog catalog) {
        this(store, catalog, Promise.SYNC);
    }

    /**
     * The same.
     *
     * @param promise how durable changes are for documents that are in no space
     */
    public DocumentService(ListStore store, Catalog catalog, Promise promise) {
        this(store, catalog, InstantSource.system(), System::nanoTime, Duration.ofMinutes(1), promise);
    }

    /** Lets documents expire by this clock alone. */
    public DocumentService(ListStore store, Catalog catalog, InstantSource clock, Duration sweepCycle) {
        this(store, catalog, clock, () -> TimeUnit.MILLISECONDS.toNanos(clock.millis()), sweepCycle);
    }

    /**
     * Lets documents expire by these clocks.
     *
     * @param nanoTime as {@link System#nanoTime()}, for sliding expiries, which setting the wall clock must not change
     * @param sweepCycle about how long after its expiry the space of a document is free again
     */
    DocumentService(ListStore store, Catalog catalog, InstantSource clock, LongSupplier nanoTime, Duration sweepCycle) {
        this(store, catalog, clock, nanoTime, sweepCycle, Promise.SYNC);
    }

    private DocumentService(
            ListStore store,
            Catalog catalog,
            InstantSource clock,
            LongSupplier nanoTime,
            Duration sweepCycle,
            Promise promise) {
        this.store = store;
        this.catalog = catalog;
        this.expiry = new Expiry(clock, nanoTime);
        this.reads = new DocumentReads(store, catalog, expiry);
        this.deletions = new DeletionJournals(store, catalog);
        this.spaces = new Spaces(store, catalog, nanoTime, promise);
        SpaceRules rules = new SpaceRules(store, nanoTime, expiry::nowMillis);
        this.writes = new DocumentWrites(catalog, reads, expiry, deletions, spaces, rules, tails);
        this.sweeper = new ExpirySweeper(catalog, this, writes, expiry, spaces, rules, sweepCycle);
        deleteUnfinished();
        sweeper.start();
    }

    /** Deletes documents whose restoration a previous run of the server did not finish. */
    private void deleteUnfinished() {
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            for (NamedDocument unfinished :
                    catalog.list(stripe, raw -> DocumentAttributes.of(raw).restoring())) {
                deleteUnfinished(unfinished);
            }
        }
    }

    private void deleteUnfinished(NamedDocument document) {
        try {
            new DocumentRestoration(this, document.name(), document.state().id()).abort();
            LOG.info("document '{}' was being restored when the server ended: restore it again", document.name());
        } catch (CaravanException refused) {
            LOG.warn(
                    "document '{}' was being restored when the server ended, and cannot be deleted: {}",
                    document.name(),
                    refused.getMessage());
        }
    }

    /** Distinguishes this run of the server from all others. */
    public String run() {
        return run;
    }

    /** Whether a list of the documents may lack some that only the archive has, as far as the last list has found. */
    public boolean incomplete() {
        return incomplete;
    }

    /**
     * A name for the document that no document of another store has, nor an earlier or later one of this store; null when
     * the store has no identity and cannot be given one now. Waits like a read, or, once, like a write.
     */
    public @Nullable String identity(DocumentInfo document) {
        UUID identity = storeIdentity;
        if (identity == null) {
            identity = findIdentity();
            storeIdentity = identity;
        }
        return identity == null ? null : identity + "/" + document.id();
    }

    private @Nullable UUID findIdentity() {
        try {
            return store.writable() ? StoreIdentity.of(store) : StoreIdentity.find(store);
        } catch (CaravanException | CompletionException refused) {
            LOG.debug("the store gets no identity now: {}", refused.getMessage());
            return null;
        }
    }

    /** Sets where documents are looked up that the store does not have. */
    public void coldDocuments(ColdDocuments documents) {
        writes.coldDocuments(documents);
        reads.coldDocuments(documents);
        incomplete = documents != ColdDocuments.NONE;
    }

    /** A store can become whole, and nothing else, after its start: when it finds that the archive has nothing. */
    private void checkIncomplete() {
        if (incomplete) {
            incomplete = StoreIdentity.incomplete(store) || StoreIdentity.mayAdopt(store);
        }
    }

    /**
     * Sets what reads are to pass before they look at documents, once, before there are any. Changes that clients ask for
     * and that change nothing, or are refused, are reads too: their outcome waits for it.
     */
    public void readBarrier(ReadBarrier barrier) {
        readBarrier = barrier;
        writes.readBarrier(barrier);
    }

    /**
     * Sets which documents may be here, once, before there are any: in a cluster of several groups those of this group's
     * slots. Changes of others are refused, {@code CROSS_GROUP}.
     */
    public void keepTo(Predicate<DocumentName> names) {
        writes.keepTo(names);
    }

    /** What a client's read passes before it looks at documents. */
    public ReadBarrier readBarrier() {
        return readBarrier;
    }

    /** Changes one document. See {@link #write(Collection, Function, Outcome)}. */
    public <T> boolean write(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        return writes.write(Write.of(name, change, outcome));
    }

    /**
     * Changes a document of the store without a look into the archive, and whatever the limits of its space: for the code
     * that fetches documents from there.
     */
    public <T> void writeLocal(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        writes.writeLocal(Write.of(name, change, outcome));
    }

    /**
     * Changes documents, all or none, while no other change does. All must be in one group of the store; otherwise the
     * outcome receives a {@link DocumentException}, {@code CROSS_GROUP}.
     *
     * @param names all documents that {@code change} uses
     * @param change makes the change, and returns the result for the outcome. It may be called several times, of which
     *     the last counts, so it must have no other effects. When it throws, nothing has changed; the outcome receives
     *     the exception if it is a {@link CaravanException}, or the change had to wait or passes a {@link
     *     #readBarrier(ReadBarrier)}, otherwise this method throws it
     * @return false when the change waits for documents from the archive: changes requested later may be made before it
     */
    public <T> boolean write(Collection<DocumentName> names, Function<DocumentEdits, T> change, Outcome<T> outcome) {
        return writes.write(new Write<>(names, change, null, outcome));
    }

    /**
     * Changes documents as {@link #write(Collection, Function, Outcome)} does, with a change that may read values
     * ({@link EditedDocument#values}), and appends long JSON without keeping others waiting.
     *
     * @throws Preparation.UnpreparedException when the change needs something that takes time: continue with {@link
     *     #writeWaiting}
     */
    public <T> boolean write(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            Preparation preparation,
            Outcome<T> outcome) {
        return writes.write(new Write<>(names, change, preparation, outcome));
    }

    /** Gets what an unprepared change lacked; for a thread that may wait. */
    public void prepare(Preparation preparation) {
        preparation.prepare(reads);
    }

    /**
     * Goes on with a change that was unprepared; for a thread that may wait. Reads what it lacks and tries it again,
     * until it succeeds: after a few tries, other changes of the same documents wait for this one.
     */
    public <T> void writeWaiting(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            Preparation preparation,
            Outcome<T> outcome) {
        writes.writeWaiting(new Write<>(names, change, preparation, outcome));
    }

    /**
     * Creates a document, unless it already exists as described. With a fork within a value this reads first, so it is
     * for a thread that may wait; otherwise it may be called like any change.
     *
     * <p>Refusals are {@link DocumentException}s: {@code EXISTS}, {@code SOURCE_NOT_FOUND}, {@code SOURCE_GONE}, {@code
     * FORK_POINT}, {@code CONTENT_TYPE_MISMATCH}, {@code NOT_JSON}, {@code CHANGED_MEANWHILE}.
     */
    public void create(DocumentName name, Creation creation, Outcome<Created> outcome) {
        ForkPoint point = creation.fork();
        SourceValue boundary = null;
        try {
            if (point != null && point.part() > 0 && point.sequence().isPresent()) {
                boundary = reads.value(point.source(), point.sequence().getAsLong());
            }
        } catch (DocumentException forbidden) {
            // If the source cannot be read, it cannot be forked either: the change finds that again, unless another
            // check fails first.
        } catch (CaravanException refused) {
            outcome.failure(refused);
            return;
        }
        SourceValue part = boundary;
        List<DocumentName> names = point == null ? List.of(name) : List.of(name, point.source());
        write(names, edits -> creation.applyTo(edits, name, part), outcome);
    }

    /**
     * Appends to a document that exists.
     *
     * <p>Refusals are {@link DocumentException}s: {@code NOT_FOUND}, {@code GONE}, {@code CLOSED}, {@code
     * CONTENT_TYPE_MISMATCH}, {@code NOT_JSON}, {@code STREAM_SEQ_REGRESSION}, {@code SEQUENCE_CONFLICT}, {@code
     * PRODUCER_FENCED}, {@code PRODUCER_GAP}, {@code PRODUCER_EPOCH_START}.
     */
    public void append(DocumentName name, Addition addition, Outcome<Added> outcome) {
        write(name, addition::applyTo, outcome);
    }

    /**
     * The document, or null when there is none.
     *
     * @throws DocumentException {@code GONE}
     */
    public @Nullable DocumentInfo find(DocumentName name) {
        return reads.find(name);
    }

    /**
     * The document as the store has accepted it, without a look into the archive: it may not be durable yet, and may
     * have expired. Null when there is none, or it is deleted or being restored. Waits for no write.
     */
    public @Nullable DocumentInfo peek(DocumentName name) {
        return reads.peek(name);
    }

    /** Whether the document was moved to another server, as the store has accepted it: those who ask for it are told. */
    public boolean moved(DocumentName name) {
        return reads.moved(name);
    }

    /** Length of the values that the document's own list retains, in bytes; without those that a fork shares. */
    public long bytes(DocumentName name, DocumentInfo info) {
        ListInfo list = store.info(info.id());
        if (list == null) {
            return 0;
        }
        DocumentAttributes attributes = reads.asStored(name, info).attributes();
        long base = attributes.base();
        long timed = attributes.timestamps().count(base + list.firstSequence(), base + list.nextSequence());
        return list.bytes() - timed * Timestamps.BYTES;
    }

    /** When the document expires, in milliseconds since 1970, if it is not used until then. */
    public OptionalLong deadlineMillis(DocumentInfo info) {
        return expiry.deadlineMillis(info.id(), info.attributes());
    }

    /** Extends a sliding expiry, as a read does. */
    public void use(DocumentName name, DocumentInfo info) {
        reads.use(name, info);
    }

    /**
     * Reads some of a document's values, as of one moment, and extends a sliding expiry.
     *
     * @param choice chooses the range to read; may be called again when the document is trimmed meanwhile
     * @throws DocumentException {@code GONE}; {@code CHANGED_MEANWHILE} when a fork was trimmed or deleted during the read
     */
    public void read(DocumentName name, Function<DocumentInfo, SequenceRange> choice, DocumentReader reader) {
        reads.read(name, choice, reader);
    }

    /** The first value of a range that {@code choice} chooses, read as {@link #read} does; null when there is none. */
    public byte @Nullable [] value(DocumentName name, Function<DocumentInfo, SequenceRange> choice) {
        SourceValue found = reads.value(name, choice);
        return found == null ? null : found.value();
    }

    /**
     * Runs the action once, after the document's next change of any kind, or after a change of it failed. The change is
     * then durable. To miss none, call this first, then read.
     *
     * @param action runs on a store thread: it must be quick, must not block, and must not read
     */
    public Tail onChange(DocumentName name, Runnable action) {
        return tails.add(name, action);
    }

    /**
     * Goes through all documents in steps of any size. A document that exists all the while is on exactly one page.
     *
     * @param cursor 0 to begin, then {@link ScanPage#next()}
     * @param limit greatest number of documents of the page, 1 or more; there may be fewer, even none
     * @throws IllegalArgumentException when the cursor is below zero
     */
    public ScanPage scan(long cursor, int limit) {
        checkIncomplete();
        return reads.scan(cursor, limit);
    }

    /**
     * The documents whose names are in one of {@link #STRIPES} parts, as accepted and in no order; without those that
     * are deleted, expired or being restored. They may not be durable yet.
     *
     * @param stripe from 0, below {@link #STRIPES}
     */
    public List<ScanPage.Found> stripe(int stripe) {
        return reads.stripe(stripe);
    }

    /**
     * Reads a whole document, with its attributes, as of one moment; all of it is durable. Does not extend a sliding
     * expiry.
     *
     * @return false when there is no such document; the receiver has then not been called
     * @throws DocumentException {@code CHANGED_MEANWHILE} when a fork was trimmed or deleted during the read
     */
    public boolean snapshot(DocumentName name, SnapshotReceiver receiver) {
        return reads.snapshot(name, receiver);
    }

    /**
     * Stores the archive mark of a document. The outcome receives whether the document with this id still exists;
     * otherwise nothing has changed.
     */
    public void mark(DocumentName name, long id, ArchiveMark mark, Outcome<Boolean> outcome) {
        writeLocal(name, document -> document.mark(id, mark), outcome);
    }

    /**
     * Starts to restore a document that is too large for one change; waits until that is durable.
     *
     * @param firstSequence sequence that the first value gets
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}
     */
    public DocumentRestoration restoration(DocumentName name, long firstSequence) {
        long id = Waiting.<Long>to(
                outcome -> writeLocal(name, document -> document.beginRestoring(firstSequence), outcome));
        return new DocumentRestoration(this, name, id);
    }

    /** The durable deletions that are not archived yet; those of one name, oldest first. */
    public List<Deletion> pendingDeletions() {
        return deletions.pending();
    }

    /** Whether a document of this name was deleted, durably or not, and that may not be archived yet. */
    public boolean deletionPending(DocumentName name) {
        return deletions.isPending(name);
    }

    public void deletionArchived(Deletion deletion) {
        deletions.archived(deletion);
    }

    /** The spaces that the documents are in, with settings that hold for the changes of clients. */
    public Spaces spaces() {
        return spaces;
    }

    /** Number of documents, including those that have expired or are kept for their forks. */
    public long documents() {
        return catalog.size();
    }

    /** Reads of values since the start, whatever their number. */
    public long reads() {
        return reads.count();
    }

    /** Number of documents whose next change someone waits for. */
    public int tailedDocuments() {
        return tails.documents();
    }

    /**
     * Why the store takes no writes, or null if it seems to: a {@link io.caravan.StoreFailedException}, or an {@link
     * io.caravan.OutOfSpaceException} after which no write succeeded.
     */
    public @Nullable CaravanException trouble() {
        return writes.trouble();
    }

    /**
     * Call this before each change on an event loop, on the loop's thread: the changes of one turn, over any protocol,
     * share a force in each group of the store.
     *
     * @param loop runs tasks on its own thread, after it has read from all connections
     * @param names the documents that are to change
     */
    public void willWrite(Executor loop, Collection<DocumentName> names) {
        int group = catalog.groups() == 1 || names.isEmpty()
                ? 0
                : catalog.groupOf(names.iterator().next());
        turns.computeIfAbsent(loop, each -> new LoopTurn(store.groups(), each)).willWrite(group);
    }

    /** See {@link ListStore#writable()}. */
    public boolean writable() {
        return store.writable();
    }

    /** See {@link ListStore#onWritable(Runnable)}. */
    public void onWritable(Runnable action) {
        store.onWritable(action);
    }

    /** See {@link ListStore#flush()}. */
    public void flush() {
        store.flush();
    }

    /** See {@link ListStore#checkpoint()}. */
    public void checkpoint() {
        store.checkpoint();
    }

    /** See {@link ListStore#stats()}. */
    public StoreStats stats() {
        return store.stats();
    }

    /**
     * Checks that documents of these names can be changed together.
     *
     * @throws DocumentException {@code CROSS_GROUP}
     */
    public void requireOneGroup(Collection<DocumentName> names) {
        writes.requireOneGroup(names);
    }

    /**
     * Checks that documents of these names may be here.
     *
     * @throws DocumentException {@code CROSS_GROUP}
     */
    public void requireHere(Collection<DocumentName> names) {
        writes.requireHere(names);
    }

    /** Number of groups of the store. */
    public int groups() {
        return catalog.groups();
    }

    /**
     * How a group of the store lies on disk; see {@link ListStore#layout()}.
     *
     * @param group from 0, below {@link #groups()}
     */
    public StoreLayout layout(int group) {
        return store.groups().get(group).layout();
    }

    /** Stops deleting expired documents. The store stays open. */
    @Override
    public void close() {
        sweeper.close();
    }
}
