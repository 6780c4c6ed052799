package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.Shards;
import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.server.archive.Archive;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.StoreIdentity;
import java.util.UUID;

/** Restores an archive to a store that no server is using. */
public final class StoreRestore {
    private StoreRestore() {}

    /**
     * Restores all documents that the store lacks. On return, the restored documents are on disk, and the store is
     * closed. Until all documents are restored, the store is marked as incomplete, so that no server serves it as a
     * complete one. A document that was restored from an older generation does not count as missing.
     *
     * @param config the configuration of the store, which is created if it is missing. It must accept the longest value
     *     in the archive
     * @param groups number of the store's shards, which may differ from that of the archived store
     * @param jobs number of documents to read at a time
     * @param allowOlder whether a document whose latest generation is damaged is restored from an older one
     * @param allowMissing whether the store counts as complete although documents could not be restored
     * @param progress receives the outcomes
     * @throws CaravanException the error that prevented or ended the restore, such as a {@link StoreDirectoryException}
     *     when the directory contains another store
     */
    public static void run(
            Archive archive,
            StoreConfig config,
            int groups,
            int jobs,
            boolean allowOlder,
            boolean allowMissing,
            RestoreProgress progress) {
        try (Shards opened = open(config, groups, archive.root().store());
                DocumentService documents = DocumentService.offline(opened.store())) {
            ListStore store = opened.store();
            new WholeRestore(archive, documents, jobs, allowOlder, progress).run();
            // The mark is in one shard, and the documents are in all.
            store.flush();
            archive.requireExists();
            if (allowMissing || progress.missing() == 0) {
                StoreIdentity.incomplete(store, false);
                store.flush();
            }
            store.checkpoint();
        }
    }

    /**
     * Opens a store for an archive's documents. A new store first adopts the identity of the archived store, so that an
     * interrupted restore can continue in the same store. Until the restore is complete, the store is marked as
     * incomplete.
     */
    private static Shards open(StoreConfig config, int groups, UUID archived) {
        Shards opened = Shards.open(config, groups);
        boolean adopted = false;
        try {
            ListStore store = opened.store();
            if (!StoreIdentity.mayAdopt(store) && !archived.equals(StoreIdentity.find(store))) {
                throw new StoreDirectoryException(
                        "the directory " + config.directory() + " contains another store than the"
                                + " one that was archived; restore to a directory that is empty or does not exist");
            }
            StoreIdentity.adopt(store, archived);
            StoreIdentity.incomplete(store, true);
            adopted = true;
            return opened;
        } finally {
            if (!adopted) {
                opened.close();
            }
        }
    }
}
