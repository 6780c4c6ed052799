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
import io.caravan.server.document.AppendRequest.Added;
import io.caravan.server.document.CreateRequest.Created;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.CreateRequest.SourceValue;
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
 * <p><b>Writes</b> are checked and accepted immediately, on the calling thread; their {@link Outcome} follows when they
 * are durable. They wait while the store has no space: a thread that must not wait checks {@link #writable()} first. A
 * write to a document's values and attributes is one batch: a crash keeps all of it or nothing.
 *
 * <p><b>Reads</b> wait until the data that they return is durable, so they are for threads that may wait. A read that
 * starts after a write was accepted sees the write.
 *
 * <p><b>Deleted and expired</b> documents do not exist. A deleted one whose forks need its values is {@link
 * DocumentException.Reason#GONE}: its name stays taken until its last fork is deleted. Documents that were moved to
 * another server do not exist here either: a {@link MovedException} redirects requests for them.
 */
public final class DocumentService implements AutoCloseable {
    /** The id of the list that contains the catalog. */
    public static final long CATALOG_LIST_ID = 0;

    /** The number of stripes into which document names are divided. */
    public static final int STRIPES = Catalog.STRIPES;

    private static final Logger LOG = LoggerFactory.getLogger(DocumentService.class);

    private final ListStore store;
    private final Catalog catalog;
    private final Expiry expiry;
    private final DocumentReads reads;
    private final DeletionJournals deletions;
    private final Spaces spaces;
    private final DocumentWrites writes;
    private final ChangeListeners tails = new ChangeListeners();
    private final ExpirySweeper sweeper;
    private final Map<Executor, LoopTurn> turns = new ConcurrentHashMap<>();
    private final String run = HexFormat.of().toHexDigits(new SecureRandom().nextLong());
    private volatile @Nullable UUID storeIdentity;
    private volatile boolean incomplete;
    private volatile ReadBarrier readBarrier = ReadBarrier.NONE;

    /** Opens the catalog of a store, which assigns documents to shards by their slots. */
    public static Catalog catalogOf(ListStore store) {
        int groups = store.shards().size();
        return Catalog.open(store, CATALOG_LIST_ID, name -> Slots.group(name.toBytes(), groups));
    }

    /** Creates a service with the system's clocks, which frees the space of expired documents within about a minute. */
    public DocumentService(ListStore store, Catalog catalog) {
        this(store, catalog, Promise.SYNC);
    }

    /**
     * Creates the same service with another durability.
     *
     * @param promise the durability of writes to documents that are in no space
     */
    public DocumentService(ListStore store, Catalog catalog, Promise promise) {
        this(store, catalog, InstantSource.system(), System::nanoTime, Duration.ofMinutes(1), promise);
    }

    /** Creates a service in which documents expire by this clock alone. */
    public DocumentService(ListStore store, Catalog catalog, InstantSource clock, Duration sweepCycle) {
        this(store, catalog, clock, () -> TimeUnit.MILLISECONDS.toNanos(clock.millis()), sweepCycle);
    }

    /**
     * Creates a service in which documents expire by these clocks.
     *
     * @param nanoTime as {@link System#nanoTime()}, for sliding expiries, which setting the wall clock must not change
     * @param sweepCycle approximate maximum time after its expiry until the space of a document is free again
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

    /** Deletes documents whose restoration or import a previous run of the server did not finish. */
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

    /** Returns an identifier that distinguishes this run of the server from all others. */
    public String run() {
        return run;
    }

    /**
     * Whether the store may lack documents that only the archive has, as determined by the last {@link #scan}.
     */
    public boolean incomplete() {
        return incomplete;
    }

    /**
     * Returns a name for the document that is unique among all stores, and among all earlier and later documents of
     * this store; null if the store has no identity and cannot get one now. Waits like a read, or, once, like a write.
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

    /** Sets the archive in which to look up documents that the store does not have. */
    public void coldDocuments(ColdDocuments documents) {
        writes.coldDocuments(documents);
        reads.coldDocuments(documents);
        incomplete = documents != ColdDocuments.NONE;
    }

    /**
     * Checks again whether documents may be missing. The state of a running store can only change to complete, when its
     * archive proves to be empty.
     */
    private void checkIncomplete() {
        if (incomplete) {
            incomplete = StoreIdentity.incomplete(store) || StoreIdentity.mayAdopt(store);
        }
    }

    /**
     * Sets the barrier that reads pass before they access documents; call this once, before any read. A client's write
     * that changes nothing, or is rejected, is also a read: its outcome waits for the barrier.
     */
    public void readBarrier(ReadBarrier barrier) {
        readBarrier = barrier;
        writes.readBarrier(barrier);
    }

    /**
     * Restricts the documents that may be here, in a cluster of several Raft groups, to those of this group's slots;
     * call this once, before any write. Writes to other documents are rejected, {@code CROSS_SLOT}.
     */
    public void keepTo(Predicate<DocumentName> names) {
        writes.keepTo(names);
    }

    /** Returns the barrier that a client's read passes before it accesses documents. */
    public ReadBarrier readBarrier() {
        return readBarrier;
    }

    /** Writes to one document. See {@link #write(Collection, Function, Outcome)}. */
    public <T> boolean write(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        return writes.write(Write.of(name, change, outcome));
    }

    /**
     * Writes to a document of the store without checking the archive, and without applying the limits of its space: for
     * the code that fetches documents from the archive.
     */
    public <T> void writeLocal(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        writes.writeLocal(Write.of(name, change, outcome));
    }

    /**
     * Writes to documents atomically, while no other write changes them. All must be in one shard; otherwise, the
     * outcome receives a {@link DocumentException}, {@code CROSS_SLOT}.
     *
     * @param names all documents that {@code change} uses
     * @param change makes the changes and returns the result for the outcome. It may be called several times, and only
     *     the last call counts, so it must have no other effects. When it throws, nothing has changed. The outcome
     *     receives the exception if it is a {@link CaravanException}, or if the write had to wait or passes a {@link
     *     #readBarrier(ReadBarrier)}; otherwise, this method throws it
     * @return false when the write waits for documents from the archive, or for a write that has reserved its names:
     *     later writes may precede it
     */
    public <T> boolean write(Collection<DocumentName> names, Function<DocumentEdits, T> change, Outcome<T> outcome) {
        return writes.write(new Write<>(names, change, null, outcome));
    }

    /**
     * Writes to documents as {@link #write(Collection, Function, Outcome)} does. The change may read values ({@link
     * EditedDocument#values}), and may append long JSON without delaying other writes.
     *
     * @throws Prefetch.UnpreparedException when the change needs data that takes time to get: continue with {@link
     *     #writeWaiting}
     */
    public <T> boolean write(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            Prefetch preparation,
            Outcome<T> outcome) {
        return writes.write(new Write<>(names, change, preparation, outcome));
    }

    /** Gets the data that an unprepared write lacked; for a thread that may wait. */
    public void prepare(Prefetch preparation) {
        preparation.prepare(reads);
    }

    /**
     * Continues an unprepared write; for a thread that may wait. Reads the missing data and tries the write again,
     * until nothing is missing. After a few tries, other writes to the same documents wait for this one.
     */
    public <T> void writeWaiting(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            Prefetch preparation,
            Outcome<T> outcome) {
        writes.writeWaiting(new Write<>(names, change, preparation, outcome));
    }

    /**
     * Creates a document, unless it already exists as described. A fork within a value first reads that value, and
     * requires a thread that may wait; otherwise, this may be called like any write.
     *
     * <p>Rejections are {@link DocumentException}s: {@code EXISTS}, {@code SOURCE_NOT_FOUND}, {@code SOURCE_GONE},
     * {@code FORK_POINT}, {@code CONTENT_TYPE_MISMATCH}, {@code NOT_JSON}, {@code CHANGED}.
     */
    public void create(DocumentName name, CreateRequest creation, Outcome<Created> outcome) {
        ForkPoint point = creation.fork();
        SourceValue boundary = null;
        try {
            if (point != null && point.part() > 0 && point.sequence().isPresent()) {
                boundary = reads.value(point.source(), point.sequence().getAsLong());
            }
        } catch (DocumentException forbidden) {
            // If the source cannot be read, it cannot be forked either: the write finds the same problem, unless
            // another check fails first.
        } catch (CaravanException refused) {
            outcome.failure(refused);
            return;
        }
        SourceValue part = boundary;
        List<DocumentName> names = point == null ? List.of(name) : List.of(name, point.source());
        write(names, edits -> creation.applyTo(edits, name, part), outcome);
    }

    /**
     * Appends to an existing document.
     *
     * <p>Rejections are {@link DocumentException}s: {@code NOT_FOUND}, {@code GONE}, {@code CLOSED}, {@code
     * CONTENT_TYPE_MISMATCH}, {@code NOT_JSON}, {@code STREAM_SEQ_REGRESSION}, {@code SEQUENCE_CONFLICT}, {@code
     * PRODUCER_FENCED}, {@code PRODUCER_GAP}, {@code PRODUCER_EPOCH_START}.
     */
    public void append(DocumentName name, AppendRequest addition, Outcome<Added> outcome) {
        write(name, addition::applyTo, outcome);
    }

    /**
     * Returns the document, or null if it does not exist.
     *
     * @throws DocumentException {@code GONE}
     */
    public @Nullable DocumentInfo find(DocumentName name) {
        return reads.find(name);
    }

    /**
     * Returns the document as the store has accepted it, without checking the archive: it may not be durable yet, and
     * may have expired. Null if it does not exist, is deleted, or is being restored. Waits for no write.
     */
    public @Nullable DocumentInfo peek(DocumentName name) {
        return reads.peek(name);
    }

    /** Whether the document was moved to another server, according to the writes that the store has accepted. */
    public boolean moved(DocumentName name) {
        return reads.moved(name);
    }

    /**
     * Returns the length of the values that the document's own list retains, in bytes, without those that a fork
     * shares.
     */
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

    /** Returns the time at which the document expires unless it is used before, in milliseconds since 1970. */
    public OptionalLong deadlineMillis(DocumentInfo info) {
        return expiry.deadlineMillis(info.id(), info.attributes());
    }

    /** Extends a sliding expiry, as a read does. */
    public void use(DocumentName name, DocumentInfo info) {
        reads.use(name, info);
    }

    /**
     * Reads a range of a document's values, as of one moment, and extends a sliding expiry.
     *
     * @param choice chooses the range to read; may be called again when the document is trimmed concurrently
     * @throws DocumentException {@code GONE}; {@code CHANGED} when a fork was trimmed or deleted during the
     *     read
     */
    public void read(DocumentName name, Function<DocumentInfo, SequenceRange> choice, DocumentReader reader) {
        reads.read(name, choice, reader);
    }

    /**
     * Returns the first value of the range that {@code choice} chooses, or null if the range is empty. Otherwise works
     * like {@link #read}.
     */
    public byte @Nullable [] value(DocumentName name, Function<DocumentInfo, SequenceRange> choice) {
        SourceValue found = reads.value(name, choice);
        return found == null ? null : found.value();
    }

    /**
     * Runs the action once, after the next write of any kind to the document is durable or has failed. To miss no
     * write, call this first, then read.
     *
     * @param action runs on a store thread: it must be quick, must not block, and must not read
     */
    public Tail onChange(DocumentName name, Runnable action) {
        return tails.add(name, action);
    }

    /**
     * Scans all documents, page by page. A document that exists during the entire scan is on exactly one page.
     *
     * @param cursor 0 to begin, then {@link ScanPage#next()}
     * @param limit maximum number of documents of the page, 1 or more; a page may have fewer, even none
     * @throws IllegalArgumentException when the cursor is below zero
     */
    public ScanPage scan(long cursor, int limit) {
        checkIncomplete();
        return reads.scan(cursor, limit);
    }

    /**
     * Returns the documents of one stripe, as accepted and in no order, without those that are deleted, expired, or
     * being restored. They may not be durable yet.
     *
     * @param stripe from 0, below {@link #STRIPES}
     */
    public List<ScanPage.Found> stripe(int stripe) {
        return reads.stripe(stripe);
    }

    /**
     * Reads a complete document, with its attributes, as of one moment; all of it is durable. Does not extend a sliding
     * expiry.
     *
     * @return false if the document does not exist; the receiver has then not been called
     * @throws DocumentException {@code CHANGED} when a fork was trimmed or deleted during the read
     */
    public boolean snapshot(DocumentName name, SnapshotReceiver receiver) {
        return reads.snapshot(name, receiver);
    }

    /**
     * Stores the archive mark of a document. The outcome receives true if the document with this id still exists;
     * otherwise, it receives false, and nothing has changed.
     */
    public void mark(DocumentName name, long id, ArchiveMark mark, Outcome<Boolean> outcome) {
        writeLocal(name, document -> document.mark(id, mark), outcome);
    }

    /**
     * Begins the restoration of a document that is too large for one write, and waits until this is durable.
     *
     * @param firstSequence sequence of the first value
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}
     */
    public DocumentRestoration restoration(DocumentName name, long firstSequence) {
        long id = Waiting.<Long>to(
                outcome -> writeLocal(name, document -> document.beginRestoring(firstSequence), outcome));
        return new DocumentRestoration(this, name, id);
    }

    /** Returns the durable deletions that are not archived yet; those of one name, oldest first. */
    public List<Deletion> pendingDeletions() {
        return deletions.pending();
    }

    /** Whether a document of this name was deleted, durably or not, and its deletion may not be archived yet. */
    public boolean deletionPending(DocumentName name) {
        return deletions.isPending(name);
    }

    public void deletionArchived(Deletion deletion) {
        deletions.archived(deletion);
    }

    /** Returns the spaces of the documents, whose settings apply to the writes of clients. */
    public Spaces spaces() {
        return spaces;
    }

    /** Returns the number of documents, including those that have expired or are kept for their forks. */
    public long documents() {
        return catalog.size();
    }

    /** Returns the number of reads since the start; a read of several values counts once. */
    public long reads() {
        return reads.count();
    }

    /** Returns the number of documents whose next write an action waits for. */
    public int tailedDocuments() {
        return tails.documents();
    }

    /**
     * Returns the reason why the store rejects writes, or null if it seems to accept them: a {@link
     * io.caravan.StoreFailedException}, or an {@link io.caravan.OutOfSpaceException} after which no write succeeded.
     */
    public @Nullable CaravanException trouble() {
        return writes.trouble();
    }

    /**
     * Prepares for a write on an event loop; call this before each one, on the loop's thread. The writes of one turn,
     * over any protocol, share an fsync in each shard.
     *
     * @param loop runs tasks on its own thread, after it has read from all connections
     * @param names the documents of the write
     */
    public void willWrite(Executor loop, Collection<DocumentName> names) {
        int group = catalog.shards() == 1 || names.isEmpty()
                ? 0
                : catalog.shardOf(names.iterator().next());
        turns.computeIfAbsent(loop, each -> new LoopTurn(store.shards(), each)).willWrite(group);
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
     * Checks that one write can change documents of these names together.
     *
     * @throws DocumentException {@code CROSS_SLOT}
     */
    public void requireOneGroup(Collection<DocumentName> names) {
        writes.requireOneGroup(names);
    }

    /**
     * Checks that documents of these names may be here.
     *
     * @throws DocumentException {@code CROSS_SLOT}
     */
    public void requireHere(Collection<DocumentName> names) {
        writes.requireHere(names);
    }

    /** Returns the number of shards of the store. */
    public int shards() {
        return catalog.shards();
    }

    /**
     * Returns the layout of a shard on disk; see {@link ListStore#layout()}.
     *
     * @param group the number of the shard, from 0, below {@link #shards()}
     */
    public StoreLayout layout(int group) {
        return store.shards().get(group).layout();
    }

    /** Stops deleting expired documents. The store stays open. */
    @Override
    public void close() {
        sweeper.close();
    }
}
