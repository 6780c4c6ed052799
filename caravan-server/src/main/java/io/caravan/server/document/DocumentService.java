package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.NamedDocument;
import io.caravan.server.cluster.Slots;
import io.caravan.server.document.CreateRequest.Created;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.Prefetch.UnpreparedException;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Spaces;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and writes the documents of one store, and their attributes, by document name.
 *
 * <p><b>Writes</b> are checked and accepted immediately, on the calling thread; their {@link Outcome} follows when they
 * are durable. A write waits while its shard has no space, so a thread that must not wait checks {@link #writable}
 * first. The values and attributes of a write form one batch: after a crash, either all of the write is present or none
 * of it.
 *
 * <p><b>Reads</b> wait until the data that they return is durable, so they are for threads that may wait. A read that
 * starts after a write was accepted reflects the write.
 *
 * <p><b>Deleted and expired</b> documents count as nonexistent. A deleted document whose forks need its values is
 * {@link DocumentException.Reason#GONE}: its name stays occupied until its last fork is deleted. Documents that were
 * moved to another server also count as nonexistent; a {@link MovedException} redirects requests for them.
 */
public final class DocumentService extends DocumentWrites implements AutoCloseable {
    public static final long CATALOG_LIST_ID = 0;

    public static final int STRIPES = Catalog.STRIPES;

    private static final Logger LOG = LoggerFactory.getLogger(DocumentService.class);

    /** The sweeper that deletes expired documents; null if no server is using the store. */
    private final @Nullable ExpirySweeper sweeper;

    private final Map<Executor, LoopTurn> turns = new ConcurrentHashMap<>();
    private final String run = HexFormat.of().toHexDigits(new SecureRandom().nextLong());
    private volatile @Nullable UUID storeIdentity;

    /** Opens the catalog of a store. The catalog assigns documents to shards by their slots. */
    public static Catalog catalogOf(ListStore store) {
        int groups = store.shards().size();
        return Catalog.open(store, CATALOG_LIST_ID, name -> Slots.group(name.toBytes(), groups));
    }

    /** Creates a service that uses the system's clocks, and frees the space of expired documents in about a minute. */
    public DocumentService(ListStore store, Catalog catalog, DocumentDurability durability) {
        this(store, catalog, InstantSource.system(), System::nanoTime, Duration.ofMinutes(1), durability);
    }

    /**
     * Creates a service for a store that no server is using. No document expires, and no value exceeds a maximum age.
     * The service's clock stands still, so its times must not be stored. Its writes are not durable until the store is
     * flushed.
     */
    public static DocumentService offline(ListStore store) {
        return new DocumentService(
                store, catalogOf(store), InstantSource.fixed(Instant.EPOCH), () -> 0, null, DocumentDurability.MEMORY);
    }

    /**
     * Creates a service in which these clocks determine when documents expire.
     *
     * @param nanoTime a clock like {@link System#nanoTime()}, for sliding expiries, which must not depend on the wall
     *     clock
     * @param sweepCycle approximate maximum time from the expiry of a document until its space is free again; null to
     *     free no space
     * @param durability the durability of writes to documents that are in no space
     */
    public DocumentService(
            ListStore store,
            Catalog catalog,
            InstantSource clock,
            LongSupplier nanoTime,
            @Nullable Duration sweepCycle,
            DocumentDurability durability) {
        super(
                store,
                catalog,
                new Expiry(clock, nanoTime),
                new Spaces(store, catalog, nanoTime, durability),
                new SpaceRules(nanoTime, clock));
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            catalog.list(stripe, raw -> DocumentAttributes.of(raw).restoring()).forEach(this::deleteUnfinished);
        }
        this.sweeper = sweepCycle == null ? null : new ExpirySweeper(this, sweepCycle);
        if (sweeper != null) {
            sweeper.start();
        }
    }

    /** Deletes a document whose restoration or import a previous run of the server did not finish. */
    private void deleteUnfinished(NamedDocument document) {
        try {
            long id = document.state().id();
            Outcome.<Boolean>await(outcome -> writeLocal(document.name(), each -> each.abortRestoring(id), outcome));
            LOG.info("document '{}' was being restored when the server ended: restore it again", document.name());
        } catch (CaravanException rejected) {
            LOG.warn(
                    "document '{}' was being restored when the server ended, and cannot be deleted: {}",
                    document.name(),
                    rejected.getMessage());
        }
    }

    /** Returns an identifier that distinguishes this run of the server from all others. */
    public String run() {
        return run;
    }

    /**
     * Returns an identifier of the document that is unique among the documents of all stores, including earlier and
     * later documents with the same name. Returns null if the store has no identity and cannot get one now. The call
     * may wait like a read; the first call may wait like a write.
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
        } catch (CaravanException | CompletionException rejected) {
            LOG.debug("the store gets no identity now: {}", rejected.getMessage());
            return null;
        }
    }

    public void coldDocuments(ColdDocuments documents) {
        cold = documents;
        incomplete = documents != ColdDocuments.NONE;
    }

    /**
     * Creates a document unless a matching document already exists. To fork a document within a value, this method
     * reads the value and requires a thread that may wait; otherwise, it may be called like any write.
     *
     * <p>Rejections are {@link DocumentException}s: {@code EXISTS}, {@code SOURCE_NOT_FOUND}, {@code SOURCE_GONE},
     * {@code FORK_POINT}, {@code CONTENT_TYPE_MISMATCH}, {@code NOT_JSON}.
     */
    public void create(DocumentName name, CreateRequest creation, Outcome<Created> outcome) {
        ForkPoint point = creation.fork();
        List<DocumentName> names = point == null ? List.of(name) : List.of(name, point.source());
        Function<DocumentEdits, Created> change = edits -> creation.applyTo(edits, name);
        if (point == null || point.part() == 0) {
            write(names, change, outcome);
            return;
        }
        Prefetch preparation = new Prefetch(Integer.MAX_VALUE);
        try {
            write(names, change, preparation, outcome);
        } catch (UnpreparedException valueMissing) {
            writeWaiting(names, change, preparation, outcome);
        }
    }

    /**
     * Runs the action once, when the next write of any kind to the document has become durable or has failed. To miss
     * no write, call this method first, and then read. The action runs on a store thread: it must be quick, must not
     * block, and must not read.
     *
     * @return cancels the registration
     */
    public Runnable onChange(DocumentName name, Runnable action) {
        return listeners.add(name, action);
    }

    /** Returns the durable deletions that are not archived yet; those of the same name are in order, oldest first. */
    public List<DeletionRecord> pendingDeletions() {
        return deletions.stream().flatMap(journal -> journal.pending().stream()).toList();
    }

    /** Waits until the deletions with this name are durable, and returns those not archived yet, oldest first. */
    public List<DeletionRecord> pendingDeletions(DocumentName name) {
        if (!deletionPending(name)) {
            return List.of();
        }
        int shard = catalog.shardOf(name);
        shards.get(shard).flush();
        return deletions.get(shard).pending().stream()
                .filter(deletion -> deletion.name().equals(name))
                .toList();
    }

    /** Whether a document with this name was deleted, durably or not, and the deletion might not be archived yet. */
    public boolean deletionPending(DocumentName name) {
        return deletions.get(catalog.shardOf(name)).isPending(name);
    }

    public void deletionArchived(DeletionRecord deletion) {
        deletions.get(catalog.shardOf(deletion.name())).archived(deletion);
    }

    public Spaces spaces() {
        return spaces;
    }

    /** Returns the number of documents, including those that have expired or are kept for their forks. */
    public long documents() {
        return catalog.size();
    }

    public int tailedDocuments() {
        return listeners.documents();
    }

    /** Returns why the store rejects writes (it has failed, or is out of space), or null if it seems to accept them. */
    public @Nullable CaravanException problem() {
        return problems.stream()
                .map(WriteProblem::current)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /**
     * Prepares for a write on an event loop; call this before each write, on the loop's thread. In one turn of the
     * loop, all writes to a shard, over any protocol, share an fsync.
     *
     * @param loop runs tasks on its own thread, after it has read from all connections
     * @param names the documents of the write
     */
    public void willWrite(Executor loop, Collection<DocumentName> names) {
        turns.computeIfAbsent(loop, each -> new LoopTurn(shards, each)).willWrite(groupOf(names));
    }

    public ListStore store() {
        return store;
    }

    public int shards() {
        return catalog.shards();
    }

    /** Stops deleting expired documents. The store stays open. */
    @Override
    public void close() {
        if (sweeper != null) {
            sweeper.close();
        }
    }
}
