package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.caravan.CaravanException;
import io.caravan.Durability;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import io.caravan.WriteCallback;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.catalog.Edit;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.Prefetch.UnpreparedException;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.Spaces;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes to documents: fetches documents that only the archive has, locks the names, runs the change, passes it to the
 * store as one batch, and notifies the caller and the tails.
 */
final class DocumentWrites {
    /** Maximum number of bytes of a document's name in the name of its replacement. */
    private static final int MAX_BESIDE_BYTES = DocumentName.MAX_BYTES - 64;

    /** The number of tries, which other writes may overtake, before a write reserves its names. */
    private static final int TRIES = 3;

    private final Catalog catalog;
    private final DocumentReads reads;
    private final Expiry expiry;
    private final DeletionJournals deletions;
    private final Spaces spaces;
    private final SpaceRules rules;
    private final ChangeListeners tails;
    /** One for each shard: if one has no space, the others may still have some. */
    private final List<Trouble> troubles;

    private final Reservations reservations = new Reservations();
    private volatile ColdDocuments cold = ColdDocuments.NONE;
    private volatile ReadBarrier readBarrier = ReadBarrier.NONE;
    private volatile Predicate<DocumentName> here = name -> true;

    DocumentWrites(
            Catalog catalog,
            DocumentReads reads,
            Expiry expiry,
            DeletionJournals deletions,
            Spaces spaces,
            SpaceRules rules,
            ChangeListeners tails) {
        this.catalog = catalog;
        this.reads = reads;
        this.expiry = expiry;
        this.deletions = deletions;
        this.spaces = spaces;
        this.rules = rules;
        this.tails = tails;
        this.troubles = Stream.generate(Trouble::new).limit(catalog.shards()).toList();
    }

    /**
     * A write, with the arguments of {@link DocumentService#write}.
     *
     * @param preparation null for a write that reads no values
     */
    record Write<T>(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            @Nullable Prefetch preparation,
            Outcome<T> outcome) {
        static <T> Write<T> of(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
            return new Write<>(Set.of(name), edits -> change.apply(edits.document(name)), null, outcome);
        }

        T apply(DocumentEdits edits) {
            return preparation == null ? change.apply(edits) : preparation.attempt(change, edits);
        }
    }

    void coldDocuments(ColdDocuments documents) {
        cold = documents;
    }

    /** See {@link DocumentService#readBarrier(ReadBarrier)}. */
    void readBarrier(ReadBarrier barrier) {
        readBarrier = barrier;
    }

    /** See {@link DocumentService#keepTo}. */
    void keepTo(Predicate<DocumentName> names) {
        here = names;
    }

    /** See {@link DocumentService#trouble}. */
    @Nullable
    CaravanException trouble() {
        return troubles.stream()
                .map(Trouble::current)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** See {@link DocumentService#writeLocal}. */
    void writeLocal(Write<?> write) {
        writeLocking(Set.copyOf(write.names()), write, false);
    }

    /** See {@link DocumentService#write(Collection, Function, Prefetch, Outcome)}. */
    boolean write(Write<?> write) {
        Runnable waiting = () -> orFail(write.outcome(), () -> writeWaiting(write));
        List<DocumentName> missing = missing(write.names());
        if (!missing.isEmpty()) {
            fetch(missing, 0, waiting, write.outcome());
            return false;
        }
        if (reservations.defer(write.names(), waiting)) {
            return false;
        }
        writeLocking(withSources(write.names()), write, true);
        return true;
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

    /** Fetches the missing documents one after the other, and then runs {@code next}. */
    private void fetch(List<DocumentName> missing, int at, Runnable next, Outcome<?> outcome) {
        if (at == missing.size()) {
            next.run();
            return;
        }
        cold.fetch(missing.get(at), new Outcome<>() {
            @Override
            public void success(DocumentName name) {
                orFail(outcome, () -> fetch(missing, at + 1, next, outcome));
            }

            @Override
            public void failure(RuntimeException problem) {
                outcome.failure(problem);
            }
        });
    }

    /** Runs part of a write on a thread that would lose an exception, and passes any exception to the outcome. */
    private static void orFail(Outcome<?> outcome, Runnable part) {
        try {
            part.run();
        } catch (RuntimeException refused) {
            outcome.failure(refused);
        } catch (Error broken) {
            outcome.failure(new IllegalStateException("a change has failed: " + broken, broken));
            throw broken;
        }
    }

    /** See {@link DocumentService#writeWaiting}. */
    void writeWaiting(Write<?> write) {
        for (int i = 0; i < TRIES; i++) {
            if (tried(write)) {
                return;
            }
        }
        Set<DocumentName> reserved = Set.copyOf(write.names());
        reservations.reserve(reserved);
        try {
            boolean decided = false;
            while (!decided) {
                decided = tried(write);
            }
        } finally {
            reservations.release(reserved);
        }
    }

    /** Prepares the write and runs it; returns false when it needs more data. */
    private boolean tried(Write<?> write) {
        if (write.preparation() != null) {
            write.preparation().prepare(reads);
        }
        try {
            writeLocking(withSources(write.names()), write, true);
            return true;
        } catch (UnpreparedException more) {
            return false;
        }
    }

    /**
     * Returns these documents and their sources, which a deletion of the documents would change. They are looked up
     * before any lock is acquired, because a write that finds a name unlocked must start again. A single name rarely
     * needs this, and the lookup would cost more than the retries.
     */
    private Set<DocumentName> withSources(Collection<DocumentName> names) {
        if (names.size() == 1) {
            return Set.of(names.iterator().next());
        }
        Set<DocumentName> all = new LinkedHashSet<>(names);
        Deque<DocumentName> unseen = new ArrayDeque<>(all);
        while (!unseen.isEmpty()) {
            DocumentState state = catalog.peek(unseen.remove());
            Fork fork = state == null
                    ? null
                    : DocumentAttributes.of(state.attributes()).fork();
            if (fork != null && all.add(fork.source())) {
                unseen.add(fork.source());
            }
        }
        return all;
    }

    /**
     * Locks the names and runs the write.
     *
     * @param asked whether a client requests the write: the rules of spaces may then reject it, and it counts as a read
     *     if it changes nothing
     */
    private <T> void writeLocking(Set<DocumentName> names, Write<T> write, boolean asked) {
        ReadBarrier barrier = asked ? readBarrier : ReadBarrier.NONE;
        Set<DocumentName> locked = names;
        boolean noteDeletions = true;
        while (true) {
            try (Edit edit = edit(locked)) {
                DocumentEdits edits =
                        new DocumentEdits(edit, locked, expiry, spaces, this::beside, write.preparation());
                T result = write.apply(edits);
                edits.requireUnfenced();
                if (!edits.carried()) {
                    setTerms(edit, locked);
                }
                try (QuotaReservation charges = rules.charge(edits, asked)) {
                    Completion<T> completion = new Completion<>(
                            locked,
                            write.outcome(),
                            () -> write.outcome().success(result),
                            edit.isEmpty() ? barrier : ReadBarrier.NONE);
                    deletions.commit(edit, edits.deletions(), noteDeletions, completion);
                    charges.accepted();
                } catch (OutOfSpaceException full) {
                    if (edits.deletions().isEmpty() || !noteDeletions) {
                        throw full;
                    }
                    // A full store can still delete, but not record the deletion: the write is repeated without the
                    // record.
                    noteDeletions = false;
                    continue;
                }
                edits.accepted();
                return;
            } catch (DocumentEdits.MissingNameException missing) {
                locked = new LinkedHashSet<>(locked);
                locked.add(missing.name());
            } catch (UnpreparedException more) {
                throw more;
            } catch (RuntimeException refused) {
                refuse(locked, write, refused, barrier);
                return;
            }
        }
    }

    /**
     * Sets the strongest durability of the documents' spaces, and their shortest flush delay, or the server's if a
     * document has no delay of its own. Not used for migration steps: later steps rely on them.
     */
    private void setTerms(Edit edit, Set<DocumentName> names) {
        if (spaces.isEmpty()) {
            return;
        }
        Durability strongest = Durability.MEMORY;
        for (DocumentName name : names) {
            strongest = strongest.orStronger(spaces.promise(name).durability());
        }
        edit.durability(strongest);
        Duration delay = flushDelay(names);
        if (delay != null) {
            edit.flushDelay(delay);
        }
    }

    private @Nullable Duration flushDelay(Set<DocumentName> names) {
        Duration shortest = null;
        for (DocumentName name : names) {
            Space space = spaces.find(name);
            Duration delay = space == null ? null : space.flushDelay();
            if (delay == null) {
                return null;
            }
            shortest = shortest == null || delay.compareTo(shortest) < 0 ? delay : shortest;
        }
        return shortest;
    }

    private Edit edit(Set<DocumentName> names) {
        if (names.size() == 1) {
            requireHere(names);
            return catalog.edit(names.iterator().next());
        }
        requireOneGroup(names);
        return catalog.edit(names);
    }

    /** See {@link DocumentService#requireOneGroup}. */
    void requireOneGroup(Collection<DocumentName> names) {
        requireHere(names);
        if (catalog.inOneShard(names)) {
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
                "is in another group of the store than '" + names.iterator().next()
                        + "', and a change concerns one group; names with the same {part} in braces are in one");
    }

    /** See {@link DocumentService#requireHere}. */
    void requireHere(Collection<DocumentName> names) {
        for (DocumentName name : names) {
            if (!here.test(name)) {
                throw new DocumentException(
                        Reason.CROSS_SLOT,
                        name,
                        "is in another group of the cluster, and a request concerns one group; names with the same {part} in"
                                + " braces are in one");
            }
        }
    }

    /**
     * Returns the name that an import has until it replaces a document. It begins with the document's name, and is
     * therefore usually in the same space.
     */
    private DocumentName beside(DocumentName name) {
        byte[] whole = name.toBytes();
        byte[] kept = Arrays.copyOf(whole, Math.min(whole.length, MAX_BESIDE_BYTES));
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

    /** Returns the shard of the first name, which is that of all names that can be written together. */
    private int groupOf(Collection<DocumentName> names) {
        return catalog.shards() == 1 || names.isEmpty()
                ? 0
                : catalog.shardOf(names.iterator().next());
    }

    /**
     * Reports a rejection. A rejection that reveals the state of documents is like a read: it waits until that state is
     * durable and known to be current.
     */
    private void refuse(Set<DocumentName> names, Write<?> write, RuntimeException refused, ReadBarrier barrier) {
        if (barrier != ReadBarrier.NONE && tellsWhatThereIs(refused)) {
            refuseDurably(names, write, refused, barrier);
        } else if (refused instanceof CaravanException problem) {
            troubles.get(groupOf(names)).refused(problem);
            write.outcome().failure(problem);
        } else {
            throw refused;
        }
    }

    /**
     * Whether a rejection reveals the state of documents. Rejections because of a limit of the store or a space, or the
     * group of a name, do not.
     */
    private static boolean tellsWhatThereIs(RuntimeException refused) {
        if (refused instanceof DocumentException about) {
            return switch (about.reason()) {
                case TOO_LARGE, OVER_QUOTA, RATE_LIMITED, CROSS_SLOT -> false;
                default -> true;
            };
        }
        return !(refused instanceof CaravanException);
    }

    private void refuseDurably(Set<DocumentName> names, Write<?> write, RuntimeException refused, ReadBarrier barrier) {
        try (Edit nothing = edit(names)) {
            setTerms(nothing, names);
            nothing.commit(new Completion<>(
                    names, write.outcome(), () -> write.outcome().failure(refused), barrier));
        } catch (CaravanException failed) {
            troubles.get(groupOf(names)).refused(failed);
            write.outcome().failure(failed);
        }
    }

    /** Notifies the caller, and then the tails of the documents. */
    private final class Completion<T> implements WriteCallback {
        private final Set<DocumentName> names;
        private final Trouble trouble;
        private final Outcome<T> outcome;
        private final Runnable done;
        private final ReadBarrier barrier;

        /**
         * Creates the completion of a write.
         *
         * @param done reports to the outcome, once the state that the write has seen or made is durable
         * @param barrier the barrier that the report passes
         */
        Completion(Set<DocumentName> names, Outcome<T> outcome, Runnable done, ReadBarrier barrier) {
            this.names = names;
            this.trouble = troubles.get(groupOf(names));
            this.outcome = outcome;
            this.done = done;
            this.barrier = barrier;
        }

        @Override
        public void success(long sequence) {
            trouble.wrote();
            try {
                barrier.pass(done, outcome::failure);
            } finally {
                tails.changed(names);
            }
        }

        @Override
        public void failure(CaravanException problem) {
            trouble.refused(problem);
            try {
                outcome.failure(problem);
            } finally {
                tails.changed(names);
            }
        }
    }

    /**
     * The reason why the store rejects writes, derived from the exceptions of those it rejected: it has failed, which
     * is final, or it is out of space. The latter ends with the next successful write, or 10 s after the last such
     * rejection: clients that stopped writing because of it would otherwise never learn that space is available again.
     * Thread-safe.
     */
    private static final class Trouble {
        private static final long OUT_OF_SPACE_NANOS = TimeUnit.SECONDS.toNanos(10);

        private volatile @Nullable CaravanException failed;
        private volatile @Nullable CaravanException outOfSpace;
        private volatile long outOfSpaceNanos;

        /** Records that a write is durable. */
        void wrote() {
            // Reading a field that threads share costs less than writing it.
            if (outOfSpace != null) {
                outOfSpace = null;
            }
        }

        /** Records that a write was rejected, for any reason. */
        void refused(CaravanException problem) {
            if (problem instanceof OutOfSpaceException) {
                outOfSpaceNanos = System.nanoTime();
                outOfSpace = problem;
            } else if (problem instanceof StoreFailedException) {
                failed = problem;
            }
        }

        /** Returns the {@link StoreFailedException} or {@link OutOfSpaceException}, or null. */
        @Nullable
        CaravanException current() {
            CaravanException lasting = failed;
            boolean old = System.nanoTime() - outOfSpaceNanos > OUT_OF_SPACE_NANOS;
            return lasting != null ? lasting : old ? null : outOfSpace;
        }
    }
}
