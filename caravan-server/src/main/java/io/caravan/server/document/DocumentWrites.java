package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import io.caravan.WriteCallback;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.catalog.Edit;
import io.caravan.server.document.Preparation.UnpreparedException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Changes of documents: fetches those that only the archive has, locks the names, runs the change, passes it to the
 * store as one batch, and notifies those who wait for it.
 */
final class DocumentWrites {
    /** After so many tries that others got ahead of, a change has its names reserved. */
    private static final int TRIES = 3;

    private final Catalog catalog;
    private final DocumentReads reads;
    private final Expiry expiry;
    private final DeletionJournal deletions;
    private final Tails tails;
    private final Trouble trouble = new Trouble();
    private final Reservations reservations = new Reservations();
    private volatile ColdDocuments cold = ColdDocuments.NONE;

    DocumentWrites(Catalog catalog, DocumentReads reads, Expiry expiry, DeletionJournal deletions, Tails tails) {
        this.catalog = catalog;
        this.reads = reads;
        this.expiry = expiry;
        this.deletions = deletions;
        this.tails = tails;
    }

    /**
     * A change, as {@link DocumentService#write} is given it.
     *
     * @param preparation null for a change that reads no values
     */
    record Write<T>(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            @Nullable Preparation preparation,
            Outcome<T> outcome) {
        /** A change of one document. */
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

    /** See {@link DocumentService#trouble}. */
    @Nullable
    CaravanException trouble() {
        return trouble.current();
    }

    /** See {@link DocumentService#writeLocal}. */
    void writeLocal(Write<?> write) {
        writeLocking(Set.copyOf(write.names()), write);
    }

    /** See {@link DocumentService#write(Collection, Function, Preparation, Outcome)}. */
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
        writeLocking(withSources(write.names()), write);
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

    /** Runs part of a change on a thread that would lose what it throws. */
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

    /** Gets what the change lacks, and makes it; returns false when it lacks more. */
    private boolean tried(Write<?> write) {
        if (write.preparation() != null) {
            write.preparation().prepare(reads);
        }
        try {
            writeLocking(withSources(write.names()), write);
            return true;
        } catch (UnpreparedException more) {
            return false;
        }
    }

    /**
     * These documents and their sources, which their deletion would change. They are found before anything is locked,
     * because a change that finds one missing must start again. For a single name that is rare, and looking costs more.
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

    private <T> void writeLocking(Set<DocumentName> names, Write<T> write) {
        Set<DocumentName> locked = names;
        boolean noteDeletions = true;
        while (true) {
            try (Edit edit = locked.size() == 1 ? catalog.edit(locked.iterator().next()) : catalog.edit(locked)) {
                DocumentEdits edits = new DocumentEdits(edit, locked, expiry, write.preparation());
                T result = write.apply(edits);
                try {
                    deletions.commit(
                            edit, edits.deletions(), noteDeletions, new Completion<>(locked, result, write.outcome()));
                } catch (OutOfSpaceException full) {
                    if (edits.deletions().isEmpty() || !noteDeletions) {
                        throw full;
                    }
                    // A full store can still delete, but not record the deletion: the change is made again.
                    noteDeletions = false;
                    continue;
                }
                edits.accepted();
                return;
            } catch (DocumentEdits.MissingNameException missing) {
                locked = new LinkedHashSet<>(locked);
                locked.add(missing.name());
            } catch (CaravanException refused) {
                trouble.refused(refused);
                write.outcome().failure(refused);
                return;
            }
        }
    }

    /** Notifies the caller, and then those who wait for the documents to change. */
    private final class Completion<T> implements WriteCallback {
        private final Collection<DocumentName> names;
        private final T result;
        private final Outcome<T> outcome;

        Completion(Collection<DocumentName> names, T result, Outcome<T> outcome) {
            this.names = names;
            this.result = result;
            this.outcome = outcome;
        }

        @Override
        public void success(long sequence) {
            trouble.wrote();
            try {
                outcome.success(result);
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
     * Why the store refuses writes, by the exceptions of those it refused: it has failed, which is final, or it is out
     * of space. The latter ends with the next successful write, and also when none was refused for a while: clients
     * that stopped writing because of it would otherwise never learn that there is space again. Thread-safe.
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

        /** Records that a write was refused, for any reason. */
        void refused(CaravanException problem) {
            if (problem instanceof OutOfSpaceException) {
                outOfSpaceNanos = System.nanoTime();
                outOfSpace = problem;
            } else if (problem instanceof StoreFailedException) {
                failed = problem;
            }
        }

        /** The {@link StoreFailedException} or {@link OutOfSpaceException}, or null when there is none. */
        @Nullable
        CaravanException current() {
            CaravanException lasting = failed;
            boolean old = System.nanoTime() - outOfSpaceNanos > OUT_OF_SPACE_NANOS;
            return lasting != null ? lasting : old ? null : outOfSpace;
        }
    }
}
