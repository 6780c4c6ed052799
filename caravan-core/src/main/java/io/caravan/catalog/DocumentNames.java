package io.caravan.catalog;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names of documents by the ids of their lists, learned from entries of a catalog's list in any order of reading. It
 * keeps those that were used last, in bounded memory. For one thread.
 */
public final class DocumentNames {
    /** Memory that a name takes beside its bytes, about. */
    private static final int BESIDE_BYTES = 200;

    private final long maxBytes;
    private final Map<Long, DocumentName> names = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;

    /**
     * What an entry of the catalog says of a document.
     *
     * @param id its list's
     * @param removed whether it no longer exists
     * @param listed whether it exists for as long as its list does
     */
    public record Entry(long id, DocumentName name, Attributes attributes, boolean removed, boolean listed) {}

    /** Keeps as many names as this much memory holds. */
    public DocumentNames(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** Reads a value of the list that may hold a catalog; null when it is no entry of one that this release reads. */
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

    /** Learns a name. */
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

    /** The name of the document with this list, or null when it is not known. */
    public @Nullable DocumentName of(long id) {
        return names.get(id);
    }
}
