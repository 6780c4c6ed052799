package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
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
    private final StoreTrouble trouble;
    private final Tails tails;
    private final Reservations reservations = new Reservations();
    private volatile ColdDocuments cold = ColdDocuments.NONE;

    DocumentWrites(
            Catalog catalog,
            DocumentReads reads,
            Expiry expiry,
            DeletionJournal deletions,
            StoreTrouble trouble,
            Tails tails) {
        this.catalog = catalog;
        this.reads = reads;
        this.expiry = expiry;
        this.deletions = deletions;
        this.trouble = trouble;
        this.tails = tails;
    }

    void coldDocuments(ColdDocuments documents) {
        cold = documents;
    }

    /** Changes a document of the store without a look into the archive. */
    <T> void writeLocal(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        writeLocking(Set.of(name), edits -> change.apply(edits.document(name)), null, outcome);
    }

    private boolean isCold(DocumentName name) {
        ColdDocuments documents = cold;
        return documents != ColdDocuments.NONE
                && (documents.fetching(name) || catalog.peek(name) == null && documents.mayHave(name));
    }

    /** See {@link DocumentService#write(Collection, Function, Preparation, Outcome)}. */
    <T> boolean write(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            @Nullable Preparation preparation,
            Outcome<T> outcome) {
        Runnable waiting = () -> orFail(outcome, () -> writeWaiting(names, change, preparation, outcome));
        List<DocumentName> missing = missing(names);
        if (!missing.isEmpty()) {
            fetch(missing, 0, waiting, outcome);
            return false;
        }
        if (reservations.defer(names, waiting)) {
            return false;
        }
        writeLocking(withSources(names), change, preparation, outcome);
        return true;
    }

    private List<DocumentName> missing(Collection<DocumentName> names) {
        return cold == ColdDocuments.NONE
                ? List.of()
                : names.stream().filter(this::isCold).toList();
    }

    /** Fetches the missing documents one after the other, and then goes on. */
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

    /** Runs part of a change on a thread where nobody else would hear of what it throws. */
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
    <T> void writeWaiting(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            @Nullable Preparation preparation,
            Outcome<T> outcome) {
        for (int i = 0; i < TRIES; i++) {
            if (tried(names, change, preparation, outcome)) {
                return;
            }
        }
        Set<DocumentName> reserved = Set.copyOf(names);
        reservations.reserve(reserved);
        try {
            boolean decided = false;
            while (!decided) {
                decided = tried(names, change, preparation, outcome);
            }
        } finally {
            reservations.release(reserved);
        }
    }

    /** Gets what the change lacks, and makes it; returns false when it lacks more. */
    private <T> boolean tried(
            Collection<DocumentName> names,
            Function<DocumentEdits, T> change,
            @Nullable Preparation preparation,
            Outcome<T> outcome) {
        if (preparation != null) {
            preparation.prepare(reads);
        }
        try {
            writeLocking(withSources(names), change, preparation, outcome);
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

    private <T> void writeLocking(
            Set<DocumentName> names,
            Function<DocumentEdits, T> change,
            @Nullable Preparation preparation,
            Outcome<T> outcome) {
        Set<DocumentName> locked = names;
        boolean noteDeletions = true;
        while (true) {
            try {
                attempt(locked, change, preparation, noteDeletions, outcome);
                return;
            } catch (DocumentEdits.MissingNameException missing) {
                locked = new LinkedHashSet<>(locked);
                locked.add(missing.name());
            } catch (NoRoomToNoteException full) {
                noteDeletions = false;
            } catch (CaravanException refused) {
                trouble.refused(refused);
                outcome.failure(refused);
                return;
            }
        }
    }

    private <T> void attempt(
            Set<DocumentName> names,
            Function<DocumentEdits, T> change,
            @Nullable Preparation preparation,
            boolean noteDeletions,
            Outcome<T> outcome) {
        try (Edit edit = edit(names)) {
            DocumentEdits edits = new DocumentEdits(edit, names, expiry, preparation);
            T result = preparation == null ? change.apply(edits) : preparation.attempt(change, edits);
            Completion<T> completion = new Completion<>(names, result, outcome);
            if (edits.deletions().isEmpty()) {
                edit.commit(completion);
            } else {
                commitDeletions(edit, edits.deletions(), noteDeletions, completion);
            }
            edits.accepted();
        }
    }

    /** A full store can still delete, but not record the deletion. */
    private void commitDeletions(Edit edit, List<Deletion> deleted, boolean note, WriteCallback callback) {
        if (!note) {
            deletions.commitUnwritten(edit, deleted, callback);
            return;
        }
        try {
            deletions.commit(edit, deleted, callback);
        } catch (OutOfSpaceException full) {
            throw new NoRoomToNoteException();
        }
    }

    /** The store has no room to record a deletion: the change is made again without the record. */
    private static final class NoRoomToNoteException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NoRoomToNoteException() {
            super(null, null, false, false);
        }
    }

    private Edit edit(Collection<DocumentName> names) {
        return names.size() == 1 ? catalog.edit(names.iterator().next()) : catalog.edit(names);
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
}
