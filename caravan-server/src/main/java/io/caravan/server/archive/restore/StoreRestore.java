package io.caravan.server.archive.restore;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreGroups;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.restore.WholeRestore.RestoreListener;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.StoreIdentity;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.UUID;

/** Restores an archive to a store that nobody serves meanwhile. */
public final class StoreRestore {
    private StoreRestore() {}

    /**
     * Restores all documents that the store lacks. When this returns, what was restored is on the disk, and the store
     * is closed. It is marked as incomplete, and not served as if it were whole, until a restore has brought every
     * document. A document that came from an older generation, which {@code allowOlder} permits, is not missing.
     *
     * @param config of the store, which is created when it is missing and must take the longest value in the archive
     * @param groups how many it has, which need not be as many as the one that was archived had
     * @param jobs number of documents to read at a time
     * @param allowOlder whether a document whose latest generation is damaged is restored from an older one
     * @param allowMissing whether the store counts as complete although documents could not be restored
     * @throws CaravanException what has prevented it, or ended it, such as a {@link StoreDirectoryException} when the
     *     directory holds another store
     */
    public static void run(
            Archive archive,
            StoreConfig config,
            int groups,
            int jobs,
            boolean allowOlder,
            boolean allowMissing,
            RestoreListener listener,
            RestoreProgress progress) {
        try (StoreGroups opened = open(config, groups, archive.root().store());
                DocumentService documents = documents(opened.store())) {
            ListStore store = opened.store();
            new WholeRestore(archive, documents, jobs, allowOlder, listener, progress).run();
            // The mark is in one group, and what it speaks of in all.
            store.flush();
            archive.requireThere();
            if (allowMissing || progress.missing() == 0) {
                StoreIdentity.incomplete(store, false);
                store.flush();
            }
            store.checkpoint();
        }
    }

    /**
     * Opens a store that is to hold an archive's documents. A new one takes over the identity of the store that was
     * archived before anything else: so a restore that was interrupted recognizes its store, and goes on. Until the
     * restore is complete, the store is marked as incomplete.
     */
    private static StoreGroups open(StoreConfig config, int groups, UUID archived) {
        StoreGroups opened = StoreGroups.open(config, groups);
        boolean adopted = false;
        try {
            ListStore store = opened.store();
            if (!StoreIdentity.mayAdopt(store) && !archived.equals(StoreIdentity.find(store))) {
                throw new StoreDirectoryException(
                        "the directory " + config.directory() + " holds another store than the"
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

    /** The documents of a store that nobody serves. Their clock stands still, so that none expires meanwhile. */
    static DocumentService documents(ListStore store) {
        return new DocumentService(
                store, DocumentService.catalogOf(store), InstantSource.fixed(Instant.EPOCH), Duration.ofDays(1));
    }
}
