package io.caravan.catalog;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A cache of document names by list id. It collects names from entries of a catalog's list, read in any order, and
 * keeps the most recently used names in bounded memory. Not thread-safe.
 */
public final class DocumentNames {
    /** Approximate memory, in bytes, that a cached name takes in addition to its own bytes. */
    private static final int BESIDE_BYTES = 200;

    private final long maxBytes;
    private final Map<Long, DocumentName> names = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;

    /**
     * A decoded entry of the catalog.
     *
     * @param id id of the document's list
     * @param removed whether the document was removed
     * @param listed whether the document exists as long as its list does
     */
    public record Entry(long id, DocumentName name, Attributes attributes, boolean removed, boolean listed) {}

    /** Creates a cache with an approximate limit on its memory. */
    public DocumentNames(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * Decodes a value of a list that may be a catalog. Returns null if this release cannot read the value as a catalog
     * entry.
     */
    public static @Nullable Entry read(ByteBuffer value) {
        return CatalogEntry.decodeIfValid(value)
                .map(entry -> new Entry(
                        entry.id(),
                        DocumentName.of(entry.name()),
                        entry.attributes(),
                        entry.kind() == CatalogEntry.Kind.REMOVED,
                        entry.kind() == CatalogEntry.Kind.WITH_LIST))
                .orElse(null);
    }

    public void learn(Entry entry) {
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
        return name.bytes().length + BESIDE_BYTES;
    }

    /** Returns the name of the document that owns this list, or null if the name is unknown. */
    public @Nullable DocumentName of(long id) {
        return names.get(id);
    }
}
