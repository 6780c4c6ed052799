package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.NotWritableException;
import io.caravan.UninterruptibleThread;
import io.caravan.WriteCallback;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.catalog.Edit;
import io.caravan.server.document.DocumentAttributes.Fork;
import io.caravan.server.document.Prefetch.UnpreparedException;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.server.document.space.Space;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One atomic write to one or more documents. It fetches documents that only the archive has, locks the names, makes the
 * changes, and passes them to the store as one batch. The changes may have to be made several times; they use this
 * object only while the names are locked, on the thread that makes them.
 */
public final class DocumentEdits {
    /** The number of attempts after which a write reserves its names, so that no other write overtakes it. */
    private static final int TRIES = 3;
    /** Runs another attempt at a deferred write after a pause, on a thread that may wait. */
    private static final Executor RETRY =
            CompletableFuture.delayedExecutor(DocumentService.RETRY_NANOS, TimeUnit.NANOSECONDS);

    final DocumentService service;
    private final Collection<DocumentName> names;
    /** Makes the changes, and returns the action that reports their result. */
    private final Function<DocumentEdits, Runnable> change;

    private final Outcome<?> outcome;
    /**
     * Whether a client requests the write: the archive may then have the documents, the rules of spaces may reject the
     * write, and it counts as a read if it changes nothing.
     */
    private final boolean fromClient;
    /** The given prefetch, which may be shared; null if the write reads no values. */
    private final @Nullable Prefetch given;
    /** The prefetch of this write, once it has been used. */
    private @Nullable Prefetch preparation;

    // The state of the current attempt:

    private Set<DocumentName> locked = Set.of();
    private @Nullable Edit edit;
    /** The documents that the write has used so far, usually one; any others are also in {@code others}. */
    private final List<EditedDocument> documents = new ArrayList<>(1);

    private Map<DocumentName, EditedDocument> others = Map.of();
    /** The rules of those documents that are in spaces. */
    private List<SpaceRules> rules = List.of();
    /** The deletions of documents that may have copies in the archive. */
    private List<DeletionRecord> deletions = List.of();
    /** Whether the write is a step in the migration of a document between servers. */
    boolean migrates;

    /** Creates a write that has not started. */
    <T> DocumentEdits(
            DocumentService service,
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            @Nullable Prefetch given,
            boolean fromClient,
            Outcome<T> outcome) {
        this.service = service;
        this.names = names;
        this.change = edits -> {
            T result = change.apply(edits);
            return () -> outcome.success(result);
        };
        this.given = given;
        this.fromClient = fromClient;
        this.outcome = outcome;
    }

    /** Starts the write; see {@link DocumentService#write(Collection, Function, Outcome)}. */
    boolean write() {
        List<DocumentName> missing = service.cold == ColdDocuments.NONE
                ? List.of()
                : names.stream().filter(service::lacks).toList();
        if (!missing.isEmpty()) {
            fetch(missing, 0);
            return false;
        }
        if (service.reservations.defer(names, this::deferred)) {
            return false;
        }
        try {
            writeLocking(mayWait());
        } catch (UnpreparedException needsData) {
            if (Thread.currentThread() instanceof UninterruptibleThread) {
                throw needsData;
            }
            writeWaiting(mayWait());
        }
        return true;
    }

    /** Whether this thread may wait for space in the store. A thread that serves clients may not. */
    static boolean mayWait() {
        Thread thread = Thread.currentThread();
        return !(thread instanceof UninterruptibleThread || thread instanceof ReaderThread);
    }

    /** Fetches the missing documents one after another, and then continues the write. */
    private void fetch(List<DocumentName> missing, int at) {
        if (at == missing.size()) {
            orFail(() -> writeWaiting(true));
            return;
        }
        AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
        Runnable rest = outcome.untilAbandoned(() -> {
            RuntimeException problem = failure.get();
            if (problem == null) {
                orFail(() -> fetch(missing, at + 1));
            } else {
                outcome.failure(problem);
            }
        });
        // The fetch refers to the write only through {@code rest}, which drops the write if the outcome is abandoned.
        service.cold.fetch(missing.get(at), Outcome.of(name -> rest.run(), problem -> {
            failure.set(problem);
            rest.run();
        }));
    }

    /** Runs part of the write, and passes any exception to the outcome, because it would otherwise be lost. */
    private void orFail(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException rejected) {
            outcome.failure(rejected);
        } catch (Error broken) {
            outcome.failure(new IllegalStateException("a write failed: " + broken, broken));
            throw broken;
        }
    }

    /**
     * Repeatedly reads the missing data and tries the write, until no data is missing. After a few tries, other writes
     * to the same documents wait for this one.
     */
    void writeWaiting(boolean mayWait) {
        for (int i = 0; i < TRIES; i++) {
            if (tried(mayWait)) {
                return;
            }
        }
        Set<DocumentName> reserved = Set.copyOf(names);
        service.reservations.reserve(reserved);
        try {
            boolean decided = false;
            while (!decided) {
                decided = tried(mayWait);
            }
        } finally {
            service.reservations.release(reserved);
        }
    }

    private Runnable deferred() {
        return outcome.untilAbandoned(this::writeDeferred);
    }

    /**
     * Performs a deferred write. The thread that ends the reservation serves clients, so it does not wait for space in
     * the store. If the store has no space now, another thread continues the write when it has.
     */
    private void writeDeferred() {
        orFail(() -> {
            try {
                writeWaiting(false);
            } catch (NotWritableException later) {
                Runnable rest = deferred();
                service.shardOf(names).onWritable(() -> RETRY.execute(rest));
            }
        });
    }

    /** Prepares the write and runs it; returns false when the write needs more data. */
    private boolean tried(boolean mayWait) {
        Prefetch lacking = preparation();
        if (lacking != null) {
            lacking.prepare(service);
        }
        try {
            writeLocking(mayWait);
            return true;
        } catch (UnpreparedException more) {
            return false;
        }
    }

    /** Locks the names and runs the write. If the store has no space now, waits without the locks, and tries again. */
    void writeLocking(boolean mayWait) {
        locked = withSources();
        while (true) {
            try {
                tryLocking(fromClient ? service.readBarrier() : ReadBarrier.NONE);
                return;
            } catch (NotWritableException later) {
                if (!mayWait) {
                    throw later;
                }
                try {
                    service.awaitSpace(names);
                } catch (CaravanException closed) {
                    outcome.failure(closed);
                    return;
                }
            }
        }
    }

    /**
     * Returns these documents and their sources, which a deletion of the documents would change. The sources are looked
     * up before any lock is acquired, because a write must start again if it needs a name that is not locked. A single
     * name is returned alone: its source is rarely needed, and the lookup would cost more than the retries.
     */
    private Set<DocumentName> withSources() {
        if (names.size() == 1) {
            return names instanceof Set<DocumentName> one
                    ? one
                    : Set.of(names.iterator().next());
        }
        Set<DocumentName> all = new LinkedHashSet<>(names);
        Deque<DocumentName> unseen = new ArrayDeque<>(all);
        while (!unseen.isEmpty()) {
            DocumentState state = service.catalog.peek(unseen.remove());
            Fork fork = state == null
                    ? null
                    : DocumentAttributes.of(state.attributes()).get(DocumentAttributes.FORK);
            if (fork != null && all.add(fork.source())) {
                unseen.add(fork.source());
            }
        }
        return all;
    }

    private void tryLocking(ReadBarrier barrier) {
        while (true) {
            try (Edit opened = service.edit(locked)) {
                commit(opened, barrier);
                return;
            } catch (MissingNameException missing) {
                locked = new LinkedHashSet<>(locked);
                locked.add(missing.name);
            } catch (UnpreparedException | NotWritableException later) {
                throw later;
            } catch (RuntimeException rejected) {
                reject(rejected, barrier);
                return;
            }
        }
    }

    /** Makes the changes, checks the rules, and passes the batch to the store. If this throws, nothing has changed. */
    private void commit(Edit opened, ReadBarrier barrier) {
        Runnable done = apply(opened);
        documents.forEach(EditedDocument::requireUnfenced);
        if (!migrates) {
            setTerms(opened);
        }
        boolean accepted = false;
        try {
            if (!rules.isEmpty()) {
                SpaceRules.reserve(rules, fromClient);
            }
            for (EditedDocument document : documents) {
                document.recordUse();
            }
            WriteCallback completion =
                    service.completion(locked, outcome, done, opened.isEmpty() ? barrier : ReadBarrier.NONE);
            if (deletions.isEmpty()) {
                opened.commit(completion, false);
            } else {
                service.deletions(locked).commit(opened, deletions, completion);
            }
            accepted = true;
        } finally {
            for (SpaceRules each : rules) {
                each.ended(accepted);
            }
            for (EditedDocument document : documents) {
                document.ended(accepted);
            }
        }
    }

    private Runnable apply(Edit opened) {
        edit = opened;
        documents.clear();
        others = Map.of();
        rules = List.of();
        deletions = List.of();
        migrates = false;
        if (preparation != null) {
            preparation.begin();
        }
        Runnable done;
        try {
            done = change.apply(this);
        } catch (RuntimeException rejected) {
            requireComplete();
            throw rejected;
        }
        requireComplete();
        return done;
    }

    private void requireComplete() {
        if (preparation != null) {
            preparation.requireComplete();
        }
    }

    /** Returns the prefetched data, to which the write may add what it lacks; null if the write prefetches none. */
    @Nullable
    Prefetch preparation() {
        if (preparation == null && given != null) {
            preparation = given.own();
        }
        return preparation;
    }

    /** Returns one of the locked documents. */
    public EditedDocument document(DocumentName name) {
        EditedDocument first = documents.isEmpty() ? null : documents.get(0);
        EditedDocument document = first != null && first.name().equals(name) ? first : others.get(name);
        if (document == null) {
            if (!locked.contains(name)) {
                throw new MissingNameException(name);
            }
            document = new EditedDocument(
                    this, name, Objects.requireNonNull(edit).document(name), service.spaces.find(name));
            documents.add(document);
            if (first != null) {
                others = others.isEmpty() ? new HashMap<>() : others;
                others.put(name, document);
            }
            if (document.rules() != null) {
                rules = rules.isEmpty() ? new ArrayList<>(1) : rules;
                rules.add(document.rules());
            }
            document.removeIfExpired();
        }
        return document;
    }

    /** Records that the write deletes a document that may have a copy in the archive. */
    void deleted(DocumentName name, ArchiveMark mark, long nextSequence) {
        deletions = deletions.isEmpty() ? new ArrayList<>(1) : deletions;
        deletions.add(new DeletionRecord(mark.incarnation(), nextSequence, service.expiry.nowMillis(), name));
    }

    /**
     * Sets the durability of the write to the strongest durability of the documents' spaces, and its flush delay to the
     * shortest delay of these spaces, unless a document has no delay. Not called for a step of a migration, because
     * later steps rely on the durability of that step.
     */
    private void setTerms(Edit opened) {
        if (service.spaces.isEmpty()) {
            opened.durability(service.spaces.server().durability());
            return;
        }
        Durability strongest = Durability.MEMORY;
        Duration shortest = null;
        boolean delayed = true;
        for (DocumentName name : locked) {
            Space space = service.spaces.find(name);
            DocumentDurability durability = space == null ? service.spaces.server() : space.durability();
            strongest = strongest.orStronger(durability.durability());
            Duration delay = space == null ? null : space.flushDelay();
            delayed &= delay != null;
            if (delay != null && (shortest == null || delay.compareTo(shortest) < 0)) {
                shortest = delay;
            }
        }
        opened.durability(strongest);
        if (delayed && shortest != null) {
            opened.flushDelay(shortest);
        }
    }

    /** Reports a rejection; if it reveals state, only once that state is durable and known to be current. */
    private void reject(RuntimeException rejected, ReadBarrier barrier) {
        if (barrier != ReadBarrier.NONE && revealsState(rejected)) {
            try (Edit nothing = service.edit(locked)) {
                setTerms(nothing);
                nothing.commit(service.completion(locked, outcome, () -> outcome.failure(rejected), barrier), false);
            } catch (NotWritableException later) {
                throw later;
            } catch (CaravanException failed) {
                service.rejected(locked, failed, outcome);
            }
        } else if (rejected instanceof CaravanException problem) {
            service.rejected(locked, problem, outcome);
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

    /**
     * Thrown when the write needs a document that is not locked; the write is repeated with that document locked. A
     * change must not catch it.
     */
    public static final class MissingNameException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient DocumentName name;

        private MissingNameException(DocumentName name) {
            super(name.toString(), null, false, false);
            this.name = name;
        }
    }
}
