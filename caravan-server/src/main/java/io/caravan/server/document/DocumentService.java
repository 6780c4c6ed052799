package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.StoreStats;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.NamedDocument;
import io.caravan.server.document.Addition.Added;
import io.caravan.server.document.Creation.Created;
import io.caravan.server.document.Creation.ForkPoint;
import io.caravan.server.document.CreationWrite.SourceValue;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The documents of one store, by name, with what they are beside their values.
 *
 * <p><b>Changes</b> are decided on and accepted at once, in the calling thread, and told of when they are durable. They
 * wait when the store has no room: a thread that must not wait asks {@link #writable()} first. What changes a document and
 * what is kept beside it is one batch: a crash keeps both or neither.
 *
 * <p><b>Reads</b> wait until what they tell is durable, so they are for threads that may wait. A read that is asked for
 * after a change was accepted sees the change.
 *
 * <p><b>Deleted and expired</b> documents are not there. A deleted one whose forks need its values is {@link
 * DocumentException.Reason#GONE}: its name stays taken until the last of them is deleted too.
 */
public final class DocumentService implements AutoCloseable {
    /** The store's list that holds the catalog. */
    public static final long CATALOG_LIST_ID = 0;

    /** Number of parts that the documents' names fall into. */
    public static final int STRIPES = Catalog.STRIPES;

    private static final Logger LOG = LoggerFactory.getLogger(DocumentService.class);

    private final ListStore store;
    private final Catalog catalog;
    private final Expiry expiry;
    private final DocumentReads reads;
    private final DeletionJournal deletions;
    private final DocumentWrites writes;
    private final Tails tails = new Tails();
    private final StoreTrouble trouble = new StoreTrouble();
    private final ExpirySweeper sweeper;

    /** Documents by the system's clock; the space of those that have expired is back within about a minute. */
    public DocumentService(ListStore store, Catalog catalog) {
        this(store, catalog, InstantSource.system(), Duration.ofMinutes(1));
    }

    /**
     * Documents that expire by this clock.
     *
     * @param sweepCycle time after which the space of a document that has expired is back, about
     */
    public DocumentService(ListStore store, Catalog catalog, InstantSource clock, Duration sweepCycle) {
        this.store = store;
        this.catalog = catalog;
        this.expiry = new Expiry(clock);
        this.reads = new DocumentReads(store, catalog, expiry);
        this.deletions = new DeletionJournal(store);
        this.writes = new DocumentWrites(catalog, expiry, deletions, trouble, tails);
        this.sweeper = new ExpirySweeper(catalog, this, expiry, sweepCycle);
        deleteUnfinished();
        sweeper.start();
    }

    /** Deletes what a server that has ended had begun to restore. */
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
            Waiting.<Boolean>to(outcome -> writeLocal(
                    document.name(),
                    edited -> edited.abortRestoring(document.state().id()),
                    outcome));
            LOG.info("document '{}' was being restored when the server ended: restore it again", document.name());
        } catch (CaravanException refused) {
            LOG.warn(
                    "document '{}' was being restored when the server ended, and cannot be deleted: {}",
                    document.name(),
                    refused.getMessage());
        }
    }

    /** Makes others look for documents that the store lacks before anybody is told that they do not exist. */
    public void coldDocuments(ColdDocuments documents) {
        writes.coldDocuments(documents);
        reads.coldDocuments(documents);
    }

    /** Changes one document. See {@link #write(Collection, Function, Outcome)}. */
    public <T> boolean write(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        return writes.write(name, change, outcome);
    }

    /** Changes a document of the store, whatever an archive has: for whoever brings it from there. */
    public <T> void writeLocal(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        writes.writeLocal(name, change, outcome);
    }

    /**
     * Changes documents, all of them or none, while nobody else does.
     *
     * @param names all documents that {@code change} asks for
     * @param change says what to do, and what to tell of it once it is durable. It may be called several times, of which the
     *     last counts, so it must do nothing else. When it throws, nothing has changed, and the outcome gets what it threw
     *     if that is a {@link CaravanException}, or if the change had to wait; otherwise this throws it
     * @return false when the change is not decided on yet, because it waits for documents that others may have: it may come
     *     behind changes that are asked for later
     */
    public <T> boolean write(Collection<DocumentName> names, Function<DocumentEdits, T> change, Outcome<T> outcome) {
        return writes.write(names, change, outcome);
    }

    /**
     * Creates a document, unless it is already what it is to be. With a fork at part of a value this reads first, so it is
     * for a thread that may wait; otherwise any change's rules hold.
     *
     * <p>Refusals are {@link DocumentException}s: {@code EXISTS}, {@code SOURCE_NOT_FOUND}, {@code SOURCE_GONE}, {@code
     * FORK_POINT}, {@code CONTENT_TYPE_MISMATCH}, {@code NOT_JSON}, {@code CHANGED_MEANWHILE}.
     */
    public void create(DocumentName name, Creation creation, Outcome<Created> outcome) {
        ForkPoint point = creation.fork();
        SourceValue boundary;
        try {
            boundary = boundary(point);
        } catch (DocumentException forbidden) {
            // What forbids to read the source forbids to fork it, and is found again then, unless something else is
            // first.
            boundary = null;
        } catch (CaravanException refused) {
            outcome.failure(refused);
            return;
        }
        create(name, creation, boundary, outcome);
    }

    private void create(
            DocumentName name, Creation creation, @Nullable SourceValue boundary, Outcome<Created> outcome) {
        ForkPoint point = creation.fork();
        List<DocumentName> names = point == null ? List.of(name) : List.of(name, point.source());
        write(names, edits -> new CreationWrite(edits, name, creation, boundary).run(), outcome);
    }

    /** The value of which a fork gets a part, or null when it gets none, or there is no such value. */
    private @Nullable SourceValue boundary(@Nullable ForkPoint point) {
        return point == null || point.part() == 0 || point.sequence().isEmpty()
                ? null
                : reads.value(point.source(), point.sequence().getAsLong());
    }

    /**
     * Appends to a document that exists.
     *
     * <p>Refusals are {@link DocumentException}s: {@code NOT_FOUND}, {@code GONE}, {@code CLOSED}, {@code
     * CONTENT_TYPE_MISMATCH}, {@code NOT_JSON}, {@code STREAM_SEQ_REGRESSION}, {@code PRODUCER_FENCED}, {@code
     * PRODUCER_GAP}, {@code PRODUCER_EPOCH_START}.
     */
    public void append(DocumentName name, Addition addition, Outcome<Added> outcome) {
        write(name, document -> new AdditionWrite(document, addition).run(), outcome);
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
     * The document as the store has accepted it, whatever an archive has: it may not be durable yet, and may have expired.
     * Null when there is none, or it is deleted or being restored. Waits for no write.
     */
    public @Nullable DocumentInfo peek(DocumentName name) {
        return reads.peek(name);
    }

    /** Length of the values that the document's own list retains, in bytes; without those that a fork has of its source. */
    public long bytes(DocumentInfo info) {
        ListInfo list = store.info(info.id());
        return list == null ? 0 : list.bytes();
    }

    /** When the document expires, in milliseconds since 1970, if nobody uses it until then. */
    public OptionalLong deadlineMillis(DocumentInfo info) {
        return expiry.deadlineMillis(info.id(), info.attributes());
    }

    /** Puts off a sliding expiry, as a read does. */
    public void use(DocumentName name, DocumentInfo info) {
        reads.use(name, info);
    }

    /**
     * Reads some of a document's values, as they are at one moment, and puts off a sliding expiry.
     *
     * @param choice chooses what to read of what is there; it may be asked again when the document is trimmed meanwhile
     * @throws DocumentException {@code GONE}; {@code CHANGED_MEANWHILE} when a fork was trimmed or deleted in the midst
     */
    public void read(DocumentName name, Function<DocumentInfo, SequenceRange> choice, DocumentReader reader) {
        reads.read(name, choice, reader);
    }

    /**
     * Runs the action once, after the document's next change: it is created, appended to, trimmed, closed, changed
     * otherwise, deleted; or a change of it failed. The change is then durable. To miss none, ask first, then read.
     *
     * @param action is run on a store thread: it must be quick, must not block, and must not read
     */
    public Tail onChange(DocumentName name, Runnable action) {
        return tails.add(name, action);
    }

    /**
     * Goes through all documents in bounded steps. A document that exists all the while is told of exactly once.
     *
     * @param cursor 0 to begin, then {@link ScanPage#next()}
     * @param count about how many to tell of; there may be more or less, even none
     * @throws IllegalArgumentException when the cursor is none of these
     */
    public ScanPage scan(int cursor, int count) {
        return reads.scan(cursor, count);
    }

    /**
     * The documents whose names fall in one of {@link #STRIPES} parts, as they were accepted and in no order; without those
     * that are deleted, expired or being restored. What is told of may not be durable yet.
     *
     * @param stripe from 0, below {@link #STRIPES}
     */
    public List<ScanPage.Found> stripe(int stripe) {
        return reads.stripe(stripe);
    }

    /**
     * Reads a document whole, with what it is beside its values, as it was at one moment and is durable. It is no use that
     * would put off an expiry.
     *
     * @return false when there is no such document; the receiver has then not been called
     * @throws DocumentException {@code CHANGED_MEANWHILE} when a fork was trimmed or deleted in the midst
     */
    public boolean snapshot(DocumentName name, SnapshotReceiver receiver) {
        return reads.snapshot(name, receiver);
    }

    /**
     * Keeps with a document what an archive has of it. The outcome is told whether the document of this id still exists;
     * otherwise nothing has changed.
     */
    public void mark(DocumentName name, long id, ArchiveMark mark, Outcome<Boolean> outcome) {
        writeLocal(
                name,
                document -> {
                    DocumentInfo info = document.evenDeleted();
                    boolean same = info != null
                            && info.id() == id
                            && !info.attributes().deleted();
                    if (info != null && same) {
                        document.mark(info, mark);
                    }
                    return same;
                },
                outcome);
    }

    /**
     * Begins to restore a document that is too large for one change; waits until that is durable.
     *
     * @param firstSequence sequence that the first value gets
     * @throws DocumentException {@code EXISTS}, {@code GONE}, {@code RESTORING}
     */
    public DocumentRestoration restoration(DocumentName name, long firstSequence) {
        return DocumentRestoration.begin(this, name, firstSequence);
    }

    /** Deletions of documents that an archive may have, and that it was not told of yet: the durable ones, oldest first. */
    public List<Deletion> pendingDeletions() {
        return deletions.pending();
    }

    /** Whether a document of this name was deleted, durably or not, and the archive may not know. */
    public boolean deletionPending(DocumentName name) {
        return deletions.isPending(name);
    }

    /** The archive knows of the deletion. */
    public void deletionArchived(Deletion deletion) {
        deletions.archived(deletion);
    }

    /** Number of documents, with those that have expired or are kept for their forks. */
    public long documents() {
        return catalog.size();
    }

    /** Number of documents that somebody waits for. */
    public int tailedDocuments() {
        return tails.documents();
    }

    /**
     * Why the store takes no writes, or null when nothing is known of that: a {@link io.caravan.StoreFailedException}, or an
     * {@link io.caravan.OutOfSpaceException} that no write has got past since.
     */
    public @Nullable CaravanException trouble() {
        return trouble.current();
    }

    /** See {@link ListStore#group()}. */
    public ListStore.Group group() {
        return store.group();
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

    /** Stops to look for expired documents. The store stays open. */
    @Override
    public void close() {
        sweeper.close();
    }
}
