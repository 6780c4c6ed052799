package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.WriteCallback;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentState;
import io.caravan.catalog.Edit;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Changes of documents: fetches those that only the archive has, locks the names, runs the change, passes it to the store as
 * one batch, and notifies those who wait for it.
 */
final class DocumentWrites {
    private final Catalog catalog;
    private final Expiry expiry;
    private final DeletionJournal deletions;
    private final StoreTrouble trouble;
    private final Tails tails;
    private volatile ColdDocuments cold = ColdDocuments.NONE;

    DocumentWrites(Catalog catalog, Expiry expiry, DeletionJournal deletions, StoreTrouble trouble, Tails tails) {
        this.catalog = catalog;
        this.expiry = expiry;
        this.deletions = deletions;
        this.trouble = trouble;
        this.tails = tails;
    }

    void coldDocuments(ColdDocuments documents) {
        cold = documents;
    }

    /** See {@link DocumentService#write(DocumentName, Function, Outcome)}. */
    <T> boolean write(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        boolean missing = isCold(name);
        if (missing) {
            cold.fetch(name, new Fetched(outcome, () -> writeLocal(name, change, outcome)));
        } else {
            writeLocal(name, change, outcome);
        }
        return !missing;
    }

    /** Changes a document of the store without a look into the archive. */
    <T> void writeLocal(DocumentName name, Function<EditedDocument, T> change, Outcome<T> outcome) {
        writeLocking(Set.of(name), edits -> change.apply(edits.document(name)), outcome);
    }

    private boolean isCold(DocumentName name) {
        ColdDocuments documents = cold;
        return documents != ColdDocuments.NONE
                && (documents.fetching(name) || catalog.peek(name) == null && documents.mayHave(name));
    }

    /** Continues once a document was fetched, on a thread where nothing else would handle an exception of the change. */
    private record Fetched(Outcome<?> outcome, Runnable next) implements Outcome<DocumentName> {
        @Override
        public void success(DocumentName name) {
            try {
                next.run();
            } catch (RuntimeException refused) {
                outcome.failure(refused);
            } catch (Error broken) {
                outcome.failure(new IllegalStateException("a change has failed: " + broken, broken));
                throw broken;
            }
        }

        @Override
        public void failure(RuntimeException problem) {
            outcome.failure(problem);
        }
    }

    /** See {@link DocumentService#write(Collection, Function, Outcome)}. */
    <T> boolean write(Collection<DocumentName> names, Function<DocumentEdits, T> change, Outcome<T> outcome) {
        List<DocumentName> missing = names.stream().filter(this::isCold).toList();
        writeFetching(missing, 0, () -> writeLocking(withSources(names), change, outcome), outcome);
        return missing.isEmpty();
    }

    /** Fetches the missing documents one by one, and then writes. */
    private void writeFetching(List<DocumentName> missing, int at, Runnable write, Outcome<?> outcome) {
        if (at == missing.size()) {
            write.run();
        } else {
            cold.fetch(missing.get(at), new Fetched(outcome, () -> writeFetching(missing, at + 1, write, outcome)));
        }
    }

    /**
     * These documents and their sources, which their deletion would change. They are found before anything is locked,
     * because a change that finds one missing must start again.
     */
    private Set<DocumentName> withSources(Collection<DocumentName> names) {
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

    private <T> void writeLocking(Set<DocumentName> names, Function<DocumentEdits, T> change, Outcome<T> outcome) {
        Set<DocumentName> locked = names;
        boolean noteDeletions = true;
        while (true) {
            try {
                attempt(locked, change, noteDeletions, outcome);
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
            Set<DocumentName> names, Function<DocumentEdits, T> change, boolean noteDeletions, Outcome<T> outcome) {
        try (Edit edit = edit(names)) {
            DocumentEdits edits = new DocumentEdits(edit, names, expiry);
            T result = change.apply(edits);
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
