package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import io.caravan.WriteCallback;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.Edit;
import io.caravan.catalog.NamedDocument;
import io.caravan.server.cluster.Slots;
import io.caravan.server.document.CreateRequest.Created;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Spaces;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
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
public final class DocumentService extends DocumentReads implements AutoCloseable {
    public static final long CATALOG_LIST_ID = 0;

    public static final int STRIPES = Catalog.STRIPES;

    private static final Logger LOG = LoggerFactory.getLogger(DocumentService.class);

    /** Maximum number of bytes that are copied from the start of a document's name into the name of its replacement. */
    private static final int MAX_REPLACED_BYTES = DocumentName.MAX_BYTES - 64;
    /** The pause before a write is tried again that needs more space than makes the store writable. */
    static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    final Spaces spaces;

    final Reservations reservations = new Reservations();
    private final List<ListStore> shards;
    /** The journals of deletions that are not archived yet, one for each shard. */
    private final List<DeletionJournal> deletions;
    /** The reasons why writes are rejected, one for each shard, because one may be out of space and others not. */
    private final List<WriteProblem> problems;
    /** The actions to run after the next write to a document, each with a key that only its registration has. */
    private final ConcurrentMap<DocumentName, Map<Object, Runnable>> listeners = new ConcurrentHashMap<>();

    private volatile ReadBarrier readBarrier = ReadBarrier.NONE;
    private volatile Predicate<DocumentName> here = name -> true;
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
        super(store, catalog, new Expiry(clock, nanoTime));
        this.shards = store.shards();
        this.spaces = new Spaces(store, catalog, nanoTime, durability);
        this.deletions = shards.stream().map(DeletionJournal::new).toList();
        this.problems = shards.stream().map(shard -> new WriteProblem()).toList();
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
            Outcome.<Boolean>await(outcome -> writeLocal(document.name(), EditedDocument::abortRestoring, outcome));
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

    /** Sets the {@link #readBarrier()}; call this once, before any read. */
    public void readBarrier(ReadBarrier barrier) {
        readBarrier = barrier;
    }

    /**
     * Returns the barrier that a client's read passes before it accesses documents. A client's write that changes
     * nothing, or is rejected, also counts as a read: its outcome waits for the barrier.
     */
    public ReadBarrier readBarrier() {
        return readBarrier;
    }

    /**
     * Restricts this store, in a cluster of several Raft groups, to the documents whose names satisfy the predicate;
     * call this once, before any write. Writes to other documents are rejected with {@code CROSS_SLOT}.
     */
    public void keepTo(Predicate<DocumentName> names) {
        here = names;
    }

    /** Writes to one document. See {@link #write(Collection, Function, Outcome)}. */
    public <T> boolean write(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        return write(Set.of(name), edits -> change.apply(edits.document(name)), outcome);
    }

    /**
     * Writes to a document of the store without checking the archive, and without applying the limits of the document's
     * space. Used by the code that fetches documents from the archive.
     */
    public <T> void writeLocal(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        new DocumentEdits(this, Set.of(name), edits -> change.apply(edits.document(name)), null, false, outcome)
                .writeLocking(true);
    }

    /**
     * Writes to documents atomically, while no other write changes them. All must be in one shard; otherwise, the
     * outcome receives a {@link DocumentException}, {@code CROSS_SLOT}.
     *
     * @param names the names of all documents that {@code change} uses
     * @param change makes the changes and returns the result for the outcome. It may be called several times, and only
     *     the last call takes effect, so it must have no side effects. If it throws, nothing has changed. The outcome
     *     receives the exception if it is a {@link CaravanException}, or if the write had to wait or passes a {@link
     *     #readBarrier(ReadBarrier)}; otherwise, this method throws the exception
     * @return false when the write is waiting for documents from the archive, or for another write that has reserved
     *     some of the names: later writes may then precede this write
     * @throws NotWritableException if the store has no space now, and the current thread is that of an event loop or a
     *     {@link ReaderThread}: wait with {@link #onWritable}, and repeat the write
     */
    public <T> boolean write(Collection<DocumentName> names, Function<DocumentEdits, T> change, Outcome<T> outcome) {
        return write(names, change, null, outcome);
    }

    /**
     * Writes to documents as {@link #write(Collection, Function, Outcome)} does. The change may read values ({@link
     * EditedDocument#values}), and may append long JSON without delaying other writes.
     *
     * @throws Prefetch.UnpreparedException when the change needs data that takes time to obtain, and this is the thread
     *     of an event loop: continue with {@link #writeWaiting} on another thread
     */
    public <T> boolean write(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            @Nullable Prefetch preparation,
            Outcome<T> outcome) {
        return change instanceof Append<T> append && appendedOnlyValues(append, names, outcome)
                || new DocumentEdits(this, names, change, preparation, true, outcome).write();
    }

    /** Performs an append that changes only values. Returns false, and has done nothing, if the append does more. */
    private <T> boolean appendedOnlyValues(Append<T> append, Collection<DocumentName> names, Outcome<T> outcome) {
        DocumentName name = append.name();
        if (append.needsDraft() || reservations.any || !here.test(name) || cold != ColdDocuments.NONE && lacks(name)) {
            return false;
        }
        try {
            return catalog.append(
                    name,
                    append.values(),
                    spaces.server().durability(),
                    state -> {
                        DocumentInfo info = DocumentInfo.of(state);
                        return (info.isPlain() || info.attributes().leavesAppendsAlone())
                                && append.onlyValues(info)
                                && spaces.find(name) == null;
                    },
                    state -> {
                        T result = append.result(DocumentInfo.of(state));
                        return completion(names, outcome, () -> outcome.success(result), ReadBarrier.NONE);
                    });
        } catch (NotWritableException later) {
            return false;
        } catch (CaravanException problem) {
            rejected(names, problem, outcome);
            return true;
        }
    }

    /** Obtains the data that an unprepared write lacked. Called on a thread that may block. */
    public void prepare(Prefetch preparation) {
        preparation.prepare(this);
    }

    /**
     * Continues an unprepared write, on a thread that may block. Repeatedly reads the missing data and retries the
     * write, until no data is missing. After a few tries, other writes to the same documents wait for this one.
     *
     * @throws NotWritableException if the store has no space now, and the current thread is a {@link ReaderThread}: wait
     *     with {@link #onWritable}, and continue again
     */
    public <T> void writeWaiting(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            Prefetch preparation,
            Outcome<T> outcome) {
        new DocumentEdits(this, names, change, preparation, true, outcome).writeWaiting(DocumentEdits.mayWait());
    }

    /** Whether a write to these documents would find space now; without names, whether all shards have space. */
    public boolean writable(Collection<DocumentName> names) {
        return shardOf(names).writable();
    }

    /**
     * Runs an action on an event loop when a write to these documents would find space.
     *
     * @param afterTry whether to pause first, because the store has rejected the write although it was writable
     */
    public void onWritable(
            Collection<DocumentName> names, ScheduledExecutorService loop, boolean afterTry, Runnable action) {
        shardOf(names).onWritable(() -> {
            try {
                if (afterTry) {
                    loop.schedule(action, RETRY_NANOS, TimeUnit.NANOSECONDS);
                } else {
                    loop.execute(action);
                }
            } catch (RejectedExecutionException stopped) {
                // The event loop has ended, and with it the connection that waited.
            }
        });
    }

    void awaitSpace(Collection<DocumentName> names) {
        CompletableFuture<Void> writable = new CompletableFuture<>();
        shardOf(names).onWritable(() -> writable.complete(null));
        writable.join();
        LockSupport.parkNanos(RETRY_NANOS);
    }

    Edit edit(Set<DocumentName> names) {
        requireOneGroup(names);
        return names.size() == 1 ? catalog.edit(names.iterator().next()) : catalog.edit(names);
    }

    /**
     * Checks that a single write can change all documents with these names.
     *
     * @throws DocumentException {@code CROSS_SLOT}
     */
    public void requireOneGroup(Collection<DocumentName> names) {
        requireHere(names);
        if (names.size() == 1 || catalog.shards() == 1) {
            return;
        }
        int first = groupOf(names);
        for (DocumentName name : names) {
            if (catalog.shardOf(name) != first) {
                throw new DocumentException(
                        Reason.CROSS_SLOT,
                        name,
                        "is in another shard than '" + names.iterator().next()
                                + "': a write concerns one shard; names with the same {part} in braces are in one shard");
            }
        }
    }

    /**
     * Checks that this store may contain documents with these names.
     *
     * @throws DocumentException {@code CROSS_SLOT}
     */
    public void requireHere(Collection<DocumentName> names) {
        for (DocumentName name : names) {
            if (!here.test(name)) {
                throw new DocumentException(
                        Reason.CROSS_SLOT,
                        name,
                        "is in another Raft group: a request concerns one group; names with the same {part} in braces"
                                + " are in one group");
            }
        }
    }

    /**
     * Returns the temporary name that an imported document has until it replaces the existing one. It starts with the
     * existing document's name, and therefore usually belongs to the same space.
     */
    DocumentName replacementName(DocumentName name) {
        byte[] whole = name.toBytes();
        byte[] kept = Arrays.copyOf(whole, Math.min(whole.length, MAX_REPLACED_BYTES));
        for (int i = 0; true; i++) {
            byte[] suffix =
                    ("\0importing\0" + Integer.toHexString(Arrays.hashCode(whole)) + "\0" + i).getBytes(US_ASCII);
            byte[] both = Arrays.copyOf(kept, kept.length + suffix.length);
            System.arraycopy(suffix, 0, both, kept.length, suffix.length);
            DocumentName candidate = DocumentName.of(both);
            if (here.test(candidate) && catalog.shardOf(candidate) == catalog.shardOf(name)) {
                return candidate;
            }
        }
    }

    /** Returns the shard of the first document, which must also contain the others, or the store if there is none. */
    ListStore shardOf(Collection<DocumentName> names) {
        return names.isEmpty() ? store : shards.get(groupOf(names));
    }

    private int groupOf(Collection<DocumentName> names) {
        return catalog.shards() == 1 || names.isEmpty()
                ? 0
                : catalog.shardOf(names.iterator().next());
    }

    DeletionJournal deletions(Collection<DocumentName> names) {
        return deletions.get(groupOf(names));
    }

    void rejected(Collection<DocumentName> names, CaravanException problem, Outcome<?> outcome) {
        problems.get(groupOf(names)).rejected(problem);
        outcome.failure(problem);
    }

    /**
     * Returns a callback that notifies the caller, and then the change listeners of the documents.
     *
     * @param done reports to the outcome; runs once the state that the write has read or created is durable
     * @param barrier the barrier that must be passed before the report
     */
    WriteCallback completion(Collection<DocumentName> names, Outcome<?> outcome, Runnable done, ReadBarrier barrier) {
        WriteProblem writeProblem = problems.get(groupOf(names));
        return new WriteCallback() {
            @Override
            public void success(long sequence) {
                writeProblem.wrote();
                try {
                    if (barrier == ReadBarrier.NONE) {
                        done.run();
                    } else {
                        barrier.pass(done, outcome::failure);
                    }
                } finally {
                    changed(names);
                }
            }

            @Override
            public void failure(CaravanException problem) {
                writeProblem.rejected(problem);
                try {
                    outcome.failure(problem);
                } finally {
                    changed(names);
                }
            }
        };
    }

    /** Runs all actions that are registered for any of these documents, even if one of the actions throws. */
    private void changed(Collection<DocumentName> names) {
        if (listeners.isEmpty()) {
            return;
        }
        Queue<Runnable> actions = new ArrayDeque<>();
        for (DocumentName name : names) {
            Map<Object, Runnable> due = listeners.remove(name);
            if (due != null) {
                actions.addAll(due.values());
            }
        }
        Reservations.runAll(actions);
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
        Prefetch preparation = point == null || point.part() == 0 ? null : new Prefetch(Integer.MAX_VALUE);
        new DocumentEdits(this, names, edits -> creation.applyTo(edits, name), preparation, true, outcome).write();
    }

    /**
     * Runs the action once, when the next write of any kind to the document has become durable or has failed. To miss
     * no write, call this method first, and then read. The action runs on a store thread: it must be quick, must not
     * block, and must not read.
     *
     * @return cancels the registration
     */
    public Runnable onChange(DocumentName name, Runnable action) {
        Object key = new Object();
        listeners.compute(name, (same, others) -> {
            Map<Object, Runnable> all = others == null ? new ConcurrentHashMap<>() : others;
            all.put(key, action);
            return all;
        });
        return () -> listeners.computeIfPresent(name, (same, others) -> {
            others.remove(key);
            return others.isEmpty() ? null : others;
        });
    }

    /** Returns the durable deletions that are not archived yet; those of the same name are oldest first. */
    public List<DeletionRecord> pendingDeletions() {
        return deletions.stream().flatMap(journal -> journal.pending().stream()).toList();
    }

    /** Waits until the deletions with this name are durable, and returns those not archived yet, oldest first. */
    public List<DeletionRecord> pendingDeletions(DocumentName name) {
        DeletionJournal journal = deletions(Set.of(name));
        if (!journal.isPending(name)) {
            return List.of();
        }
        shardOf(Set.of(name)).flush();
        return journal.pending().stream()
                .filter(deletion -> deletion.name().equals(name))
                .toList();
    }

    /** Whether a document with this name was deleted, durably or not, and the deletion might not be archived yet. */
    public boolean deletionPending(DocumentName name) {
        return deletions(Set.of(name)).isPending(name);
    }

    public void deletionArchived(DeletionRecord deletion) {
        deletions(Set.of(deletion.name())).archived(deletion);
    }

    public Spaces spaces() {
        return spaces;
    }

    /** Returns the number of documents, including those that have expired or are kept for their forks. */
    public long documents() {
        return catalog.size();
    }

    public int tailedDocuments() {
        return listeners.size();
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

    /**
     * The reason why the store rejects writes: the store has failed permanently, or is out of space. The out-of-space
     * state ends with the next successful write, or 10 s after the last such rejection, because clients that stop
     * writing would otherwise never learn that space is available again. Thread-safe.
     */
    private static final class WriteProblem {
        private static final long OUT_OF_SPACE_NANOS = TimeUnit.SECONDS.toNanos(10);

        private volatile @Nullable CaravanException failed;
        private volatile @Nullable CaravanException outOfSpace;
        private volatile long outOfSpaceNanos;

        void wrote() {
            // Reading a field that threads share costs less than writing it.
            if (outOfSpace != null) {
                outOfSpace = null;
            }
        }

        void rejected(CaravanException problem) {
            if (problem instanceof OutOfSpaceException) {
                outOfSpaceNanos = System.nanoTime();
                outOfSpace = problem;
            } else if (problem instanceof StoreFailedException) {
                failed = problem;
            }
        }

        /** Returns the exception that explains why the store rejects writes, or null if it appears to accept them. */
        @Nullable
        CaravanException current() {
            CaravanException lasting = failed;
            boolean old = System.nanoTime() - outOfSpaceNanos > OUT_OF_SPACE_NANOS;
            return lasting != null ? lasting : old ? null : outOfSpace;
        }
    }
}
