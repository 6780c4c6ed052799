package io.caravan.catalog;

import org.jspecify.annotations.Nullable;

/**
 * The documents in the order of the entries that describe them. Guarded by the lock of {@link CatalogLog}, except for
 * {@link #size()}.
 */
final class EntryOrder {
    private @Nullable Document oldest;
    private @Nullable Document newest;
    /** Also read without the lock. */
    private volatile long size;

    @Nullable
    Document oldest() {
        return oldest;
    }

    long size() {
        return size;
    }

    /** Adds a document that is not in the order, as the newest. */
    void add(Document document) {
        document.older = newest;
        document.newer = null;
        if (newest == null) {
            oldest = document;
        } else {
            newest.newer = document;
        }
        newest = document;
        size = size + 1;
    }

    void remove(Document document) {
        if (document.older == null) {
            oldest = document.newer;
        } else {
            document.older.newer = document.newer;
        }
        if (document.newer == null) {
            newest = document.older;
        } else {
            document.newer.older = document.older;
        }
        document.older = null;
        document.newer = null;
        size = size - 1;
    }
}
