package io.caravan.server.document;

import io.caravan.ListStore;
import io.caravan.WriteCallback;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.Edit;
import java.util.List;

/** The deletion journals of a store, one for each shard. A deletion is recorded in its document's shard. */
final class DeletionJournals {
    private final Catalog catalog;
    private final List<DeletionJournal> journals;

    DeletionJournals(ListStore store, Catalog catalog) {
        this.catalog = catalog;
        this.journals = store.shards().stream().map(DeletionJournal::new).toList();
    }

    private DeletionJournal of(DocumentName name) {
        return journals.get(catalog.shardOf(name));
    }

    /** Commits an edit that makes these deletions, if any; see {@link DeletionJournal#commit}. */
    void commit(Edit edit, List<Deletion> deletions, boolean record, WriteCallback callback) {
        if (deletions.isEmpty()) {
            edit.commit(callback);
        } else {
            of(deletions.get(0).name()).commit(edit, deletions, record, callback);
        }
    }

    /** Returns the durable deletions; those of each shard, oldest first. */
    List<Deletion> pending() {
        return journals.stream().flatMap(journal -> journal.pending().stream()).toList();
    }

    /** See {@link DeletionJournal#isPending}. */
    boolean isPending(DocumentName name) {
        return of(name).isPending(name);
    }

    /** Removes an archived deletion. */
    void archived(Deletion deletion) {
        of(deletion.name()).archived(deletion);
    }
}
