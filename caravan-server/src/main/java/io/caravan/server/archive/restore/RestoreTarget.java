package io.caravan.server.archive.restore;

import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.server.document.StoreIdentity;
import java.util.UUID;

/** The store that an archive is restored to. */
public final class RestoreTarget {

    private RestoreTarget() {}

    /**
     * Opens a store that is to hold an archive's documents. A new one takes over the identity of the store that was
     * archived before anything else: so a restore that was ended in the midst finds its store again, and goes on. Until
     * somebody says otherwise the store is noted as incomplete.
     *
     * @param archived identity of the store that was archived
     * @throws StoreDirectoryException when the directory holds another store
     */
    public static ListStore open(StoreConfig config, UUID archived) {
        ListStore store = DurableListStore.open(config);
        boolean opened = false;
        try {
            requireItsOwn(store, archived, config);
            StoreIdentity.adopt(store, archived);
            StoreIdentity.incomplete(store, true);
            opened = true;
            return store;
        } finally {
            if (!opened) {
                store.close();
            }
        }
    }

    private static void requireItsOwn(ListStore store, UUID archived, StoreConfig config) {
        if (!StoreIdentity.mayAdopt(store) && !archived.equals(StoreIdentity.find(store))) {
            throw new StoreDirectoryException("the directory " + config.directory() + " holds another store than the"
                    + " one that was archived; restore to a directory that is empty or does not exist");
        }
    }
}
