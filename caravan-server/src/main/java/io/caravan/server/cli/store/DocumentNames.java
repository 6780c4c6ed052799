package io.caravan.server.cli.store;

import io.caravan.catalog.CatalogEntry;
import io.caravan.catalog.DocumentName;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A cache of document names by list id. It collects names from entries of a catalog's list, read in any order, and
 * keeps the most recently used names in bounded memory. Not thread-safe.
 */
final class DocumentNames {
    /** Approximate memory, in bytes, that a cached name takes in addition to its own bytes. */
    private static final int BESIDE_BYTES = 200;

    private final long maxBytes;
    private final Map<Long, DocumentName> names = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;

    /** Creates a cache with an approximate limit on its memory. */
    DocumentNames(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    void learn(CatalogEntry entry) {
        if (names.put(entry.id(), entry.name()) == null) {
            bytes += size(entry.name());
        }
        var oldest = names.entrySet().iterator();
        while (bytes > maxBytes && oldest.hasNext()) {
            bytes -= size(oldest.next().getValue());
            oldest.remove();
        }
    }

    private static long size(DocumentName name) {
        return name.toBytes().length + BESIDE_BYTES;
    }

    /** Returns the name of the document that owns this list, or null if the name is unknown. */
    @Nullable
    DocumentName of(long id) {
        return names.get(id);
    }
}
