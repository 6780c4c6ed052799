package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import io.caravan.UninterruptibleThread;
import io.caravan.WriteCallback;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.catalog.Edit;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.Prefetch.UnpreparedException;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.Spaces;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Implements the writes of {@link DocumentService}: fetches documents that only the archive has, locks the names, runs
 * the change, passes it to the store as one batch, and notifies the caller and the change listeners.
 */
abstract class DocumentWrites extends DocumentReads {
    /** Maximum number of bytes that are copied from the start of a document's name into the name of its replacement. */
    private static final int MAX_REPLACED_BYTES = DocumentName.MAX_BYTES - 64;

    /** The number of attempts after which a write reserves its names, so that no other write overtakes it. */
    private static final int TRIES = 3;

    /** The pause before a write is tried again that needs more space than makes the store writable. */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** Runs another attempt at a deferred write after this pause, on a thread that may wait. */
    private static final Executor RETRY = CompletableFuture.delayedExecutor(RETRY_NANOS, TimeUnit.NANOSECONDS);

    final List<ListStore> shards;
    final Spaces spaces;
    final SpaceRules rules;
    final ChangeListeners listeners = new ChangeListeners();
    /** The journals of deletions that are not archived yet, one for each shard. */
    final List<DeletionJournal> deletions;
    /** The reasons why writes are rejected, one for each shard, because one may be out of space and others not. */
    final List<WriteProblem> problems;

    private final Reservations reservations = new Reservations();
    private volatile ReadBarrier readBarrier = ReadBarrier.NONE;
    private volatile Predicate<DocumentName> here = name -> true;

    DocumentWrites(ListStore store, Catalog catalog, Expiry expiry, Spaces spaces, SpaceRules rules) {
        super(store, catalog, expiry);
        this.shards = store.shards();
        this.spaces = spaces;
        this.rules = rules;
        this.deletions = shards.stream().map(DeletionJournal::new).toList();
        this.problems =
                Stream.generate(WriteProblem::new).limit(catalog.shards()).toList();
    }

    /** A write; {@code preparation} is null if the write reads no values. */
    private record Write<T>(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            @Nullable Prefetch preparation,
            Outcome<T> outcome) {
        static <T> Write<T> of(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
            return new Write<>(Set.of(name), edits -> change.apply(edits.document(name)), null, outcome);
        }

        /** Returns this write with a prefetch of its own, for more than the first attempt. */
        Write<T> own() {
            return preparation == null ? this : new Write<>(names, change, preparation.own(), outcome);
        }
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
        return write(Write.of(name, change, outcome));
    }

    /**
     * Writes to a document of the store without checking the archive, and without applying the limits of the document's
     * space. Used by the code that fetches documents from the archive.
     */
    public <T> void writeLocal(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        writeLocking(Set.of(name), Write.of(name, change, outcome), false, true);
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
        return write(new Write<>(names, change, null, outcome));
    }

    /**
     * Writes to documents as {@link #write(Collection, Function, Outcome)} does. The change may read values ({@link
     * EditedDocument#values}), and may append long JSON without delaying other writes.
     *
     * @throws Prefetch.UnpreparedException when the change needs data that takes time to obtain: continue with {@link
     *     #writeWaiting}
     */
    public <T> boolean write(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            Prefetch preparation,
            Outcome<T> outcome) {
        return write(new Write<>(names, change, preparation, outcome));
    }

    private boolean write(Write<?> write) {
        List<DocumentName> missing = missing(write.names());
        if (!missing.isEmpty()) {
            fetch(missing, 0, () -> orFail(write.outcome(), () -> writeWaiting(write.own(), true)), write.outcome());
            return false;
        }
        if (reservations.defer(write.names(), () -> write.outcome().untilAbandoned(() -> writeDeferred(write.own())))) {
            return false;
        }
        writeLocking(withSources(write.names()), write, true, mayWait());
        return true;
    }

    /** Whether this thread may wait for space in the store. A thread that serves clients may not. */
    private static boolean mayWait() {
        Thread thread = Thread.currentThread();
        return !(thread instanceof UninterruptibleThread || thread instanceof ReaderThread);
    }

    private List<DocumentName> missing(Collection<DocumentName> names) {
        ColdDocuments documents = cold;
        return documents == ColdDocuments.NONE
                ? List.of()
                : names.stream()
                        .filter(name ->
                                documents.fetching(name) || catalog.peek(name) == null && documents.mayHave(name))
                        .toList();
    }

    /** Fetches the missing documents one after another, and then runs {@code next}. */
    private void fetch(List<DocumentName> missing, int at, Runnable next, Outcome<?> outcome) {
        if (at == missing.size()) {
            next.run();
            return;
        }
        AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
        Runnable rest = outcome.untilAbandoned(() -> {
            RuntimeException problem = failure.get();
            if (problem == null) {
                orFail(outcome, () -> fetch(missing, at + 1, next, outcome));
            } else {
                outcome.failure(problem);
            }
        });
        // The fetch refers to the write only through {@code rest}, which drops the write if the outcome is abandoned.
        cold.fetch(missing.get(at), Outcome.of(name -> rest.run(), problem -> {
            failure.set(problem);
            rest.run();
        }));
    }

    /** Runs part of a write, and passes any exception to the outcome, because the exception would otherwise be lost. */
    private static void orFail(Outcome<?> outcome, Runnable part) {
        try {
            part.run();
        } catch (RuntimeException rejected) {
            outcome.failure(rejected);
        } catch (Error broken) {
            outcome.failure(new IllegalStateException("a write failed: " + broken, broken));
            throw broken;
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
        writeWaiting(new Write<>(names, change, preparation, outcome), mayWait());
    }

    private void writeWaiting(Write<?> write, boolean mayWait) {
        for (int i = 0; i < TRIES; i++) {
            if (tried(write, mayWait)) {
                return;
            }
        }
        Set<DocumentName> reserved = Set.copyOf(write.names());
        reservations.reserve(reserved);
        try {
            boolean decided = false;
            while (!decided) {
                decided = tried(write, mayWait);
            }
        } finally {
            reservations.release(reserved);
        }
    }

    /**
     * Performs a deferred write. The thread that ends the reservation serves clients, so it does not wait for space in
     * the store. If the store has no space now, another thread continues the write when it has.
     */
    private void writeDeferred(Write<?> write) {
        orFail(write.outcome(), () -> {
            try {
                writeWaiting(write, false);
            } catch (NotWritableException later) {
                Runnable rest = write.outcome().untilAbandoned(() -> writeDeferred(write));
                shardOf(write.names()).onWritable(() -> RETRY.execute(rest));
            }
        });
    }

    /** Prepares the write and runs it; returns false when the write needs more data. */
    private boolean tried(Write<?> write, boolean mayWait) {
        if (write.preparation() != null) {
            write.preparation().prepare(this);
        }
        try {
            writeLocking(withSources(write.names()), write, true, mayWait);
            return true;
        } catch (UnpreparedException more) {
            return false;
        }
    }

    /**
     * Returns these documents and their sources, which a deletion of the documents would change. The sources are looked
     * up before any lock is acquired, because a write must start again if it needs a name that is not locked. A single
     * name is returned alone: its source is rarely needed, and the lookup would cost more than the retries.
     */
    private Set<DocumentName> withSources(Collection<DocumentName> names) {
        if (names.size() == 1) {
            return names instanceof Set<DocumentName> one
                    ? one
                    : Set.of(names.iterator().next());
        }
        Set<DocumentName> all = new LinkedHashSet<>(names);
        Deque<DocumentName> unseen = new ArrayDeque<>(all);
        while (!unseen.isEmpty()) {
            DocumentState state = catalog.peek(unseen.remove());
            Fork fork = state == null
                    ? null
                    : DocumentAttributes.of(state.attributes()).get(DocumentAttributes.FORK);
            if (fork != null && all.add(fork.source())) {
                unseen.add(fork.source());
            }
        }
        return all;
    }

    /**
     * Locks the names and runs the write. If the store has no space now, waits without the locks, and tries again.
     *
     * @param fromClient whether a client requests the write: the rules of spaces may then reject it, and it counts as a
     *     read if it changes nothing
     */
    private void writeLocking(Set<DocumentName> names, Write<?> write, boolean fromClient, boolean mayWait) {
        while (true) {
            try {
                tryLocking(names, write, fromClient);
                return;
            } catch (NotWritableException later) {
                if (!mayWait) {
                    throw later;
                }
                try {
                    awaitSpace(names);
                } catch (CaravanException closed) {
                    write.outcome().failure(closed);
                    return;
                }
            }
        }
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

    private void awaitSpace(Set<DocumentName> names) {
        CompletableFuture<Void> writable = new CompletableFuture<>();
        shardOf(names).onWritable(() -> writable.complete(null));
        writable.join();
        LockSupport.parkNanos(RETRY_NANOS);
    }

    private <T> void tryLocking(Set<DocumentName> names, Write<T> write, boolean fromClient) {
        ReadBarrier barrier = fromClient ? readBarrier : ReadBarrier.NONE;
        Set<DocumentName> locked = names;
        while (true) {
            try (Edit edit = edit(locked)) {
                DocumentEdits edits = new DocumentEdits(this, edit, locked, write.preparation());
                T result = edits.apply(write.change());
                edits.documents.forEach(EditedDocument::requireUnfenced);
                if (!edits.migrates) {
                    setTerms(edit, locked);
                }
                boolean accepted = false;
                try {
                    if (!edits.sizes.isEmpty()) {
                        rules.reserve(edits.sizes, fromClient);
                    }
                    for (EditedDocument document : edits.documents) {
                        document.recordUse();
                    }
                    boolean reads = edit.isEmpty();
                    WriteCallback completion = completion(
                            locked,
                            write.outcome(),
                            () -> write.outcome().success(result),
                            reads ? barrier : ReadBarrier.NONE);
                    if (edits.deletions.isEmpty()) {
                        edit.commit(completion, false);
                    } else {
                        deletions.get(groupOf(locked)).commit(edit, edits.deletions, completion);
                    }
                    accepted = true;
                } finally {
                    edits.ended(accepted);
                }
                return;
            } catch (DocumentEdits.MissingNameException missing) {
                locked = new LinkedHashSet<>(locked);
                locked.add(missing.name());
            } catch (UnpreparedException | NotWritableException later) {
                throw later;
            } catch (RuntimeException rejected) {
                reject(locked, write, rejected, barrier);
                return;
            }
        }
    }

    /**
     * Sets the durability of a write to the strongest durability of the documents' spaces, and its flush delay to the
     * shortest delay of these spaces, unless a document has no delay. Not called for a step of a migration, because
     * later steps rely on the durability of that step.
     */
    private void setTerms(Edit edit, Set<DocumentName> names) {
        if (spaces.isEmpty()) {
            return;
        }
        Durability strongest = Durability.MEMORY;
        Duration shortest = null;
        boolean delayed = true;
        for (DocumentName name : names) {
            Space space = spaces.find(name);
            DocumentDurability durability = space == null ? spaces.server() : space.durability();
            strongest = strongest.orStronger(durability.durability());
            Duration delay = space == null ? null : space.flushDelay();
            delayed &= delay != null;
            if (delay != null && (shortest == null || delay.compareTo(shortest) < 0)) {
                shortest = delay;
            }
        }
        edit.durability(strongest);
        if (delayed && shortest != null) {
            edit.flushDelay(shortest);
        }
    }

    private Edit edit(Set<DocumentName> names) {
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
        if (names.size() == 1 || catalog.inOneShard(names)) {
            return;
        }
        int first = groupOf(names);
        DocumentName other = names.stream()
                .filter(name -> catalog.shardOf(name) != first)
                .findFirst()
                .orElseThrow();
        throw new DocumentException(
                Reason.CROSS_SLOT,
                other,
                "is in another shard than '" + names.iterator().next()
                        + "': a write concerns one shard; names with the same {part} in braces are in one shard");
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
    private ListStore shardOf(Collection<DocumentName> names) {
        return names.isEmpty() ? store : shards.get(groupOf(names));
    }

    int groupOf(Collection<DocumentName> names) {
        return catalog.shards() == 1 || names.isEmpty()
                ? 0
                : catalog.shardOf(names.iterator().next());
    }

    /** Reports a rejection; if it reveals state, only once that state is durable and known to be current. */
    private void reject(Set<DocumentName> names, Write<?> write, RuntimeException rejected, ReadBarrier barrier) {
        if (barrier != ReadBarrier.NONE && revealsState(rejected)) {
            rejectDurably(names, write, rejected, barrier);
        } else if (rejected instanceof CaravanException problem) {
            problems.get(groupOf(names)).rejected(problem);
            write.outcome().failure(problem);
        } else {
            throw rejected;
        }
    }

    /** Whether a rejection reveals the state of documents, and is not due to a limit or to the place of a name. */
    private static boolean revealsState(RuntimeException rejected) {
        if (rejected instanceof DocumentException about) {
            return switch (about.reason()) {
                case TOO_LARGE, OVER_QUOTA, RATE_LIMITED, CROSS_SLOT -> false;
                default -> true;
            };
        }
        return !(rejected instanceof CaravanException);
    }

    private void rejectDurably(
            Set<DocumentName> names, Write<?> write, RuntimeException rejected, ReadBarrier barrier) {
        try (Edit nothing = edit(names)) {
            setTerms(nothing, names);
            nothing.commit(
                    completion(names, write.outcome(), () -> write.outcome().failure(rejected), barrier), false);
        } catch (NotWritableException later) {
            throw later;
        } catch (CaravanException failed) {
            problems.get(groupOf(names)).rejected(failed);
            write.outcome().failure(failed);
        }
    }

    /**
     * Returns a callback that notifies the caller, and then the change listeners of the documents.
     *
     * @param done reports to the outcome; runs once the state that the write has read or created is durable
     * @param barrier the barrier that must be passed before the report
     */
    private WriteCallback completion(Set<DocumentName> names, Outcome<?> outcome, Runnable done, ReadBarrier barrier) {
        WriteProblem writeProblem = problems.get(groupOf(names));
        return new WriteCallback() {
            @Override
            public void success(long sequence) {
                writeProblem.wrote();
                try {
                    barrier.pass(done, outcome::failure);
                } finally {
                    listeners.changed(names);
                }
            }

            @Override
            public void failure(CaravanException problem) {
                writeProblem.rejected(problem);
                try {
                    outcome.failure(problem);
                } finally {
                    listeners.changed(names);
                }
            }
        };
    }

    /**
     * The reason why the store rejects writes: the store has failed permanently, or is out of space. The out-of-space
     * state ends with the next successful write, or 10 s after the last such rejection, because clients that stop
     * writing would otherwise never learn that space is available again. Thread-safe.
     */
    static final class WriteProblem {
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
