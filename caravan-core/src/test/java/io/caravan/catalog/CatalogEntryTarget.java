package io.caravan.catalog;

import io.caravan.CaravanException;
import io.caravan.fuzz.FuzzTarget;
import io.caravan.fuzz.MemoryUse;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;

/** Decodes arbitrary bytes as a catalog entry. Encoding an accepted entry again yields the same bytes. */
public final class CatalogEntryTarget implements FuzzTarget {
    /** The memory limit for decoding an entry of any size: copies of its name, its attributes, and their parts. */
    private static final long LIMIT_BYTES = 512 << 10;

    @Override
    public List<byte[]> samples() {
        Attributes attributes = Attributes.EMPTY
                .with("a", new byte[0])
                .with("key", new byte[] {1, 2, 3})
                .with("long", new byte[300]);
        return List.of(
                encoded(CatalogEntry.Kind.WITH_LIST, attributes),
                encoded(CatalogEntry.Kind.WITHOUT_LIST, Attributes.EMPTY),
                encoded(CatalogEntry.Kind.REMOVED, Attributes.EMPTY.with("k", new byte[9])));
    }

    private static byte[] encoded(CatalogEntry.Kind kind, Attributes attributes) {
        return new CatalogEntry(kind, 5, 9, DocumentName.of("abc"), attributes).encode();
    }

    @Override
    public void run(byte[] input) throws Exception {
        MemoryUse.within(LIMIT_BYTES, () -> decode(input));
    }

    private static void decode(byte[] input) {
        CatalogEntry entry;
        try {
            entry = CatalogEntry.decode(ByteBuffer.wrap(input).asReadOnlyBuffer(), 0, 7);
        } catch (CaravanException rejection) {
            return;
        }
        if (!Arrays.equals(entry.encode(), input)) {
            throw new AssertionError("reads " + entry + ", which is written otherwise");
        }
        SortedMap<String, byte[]> attributes = entry.attributes().asMap();
        attributes.forEach((key, value) -> {
            if (!Arrays.equals(entry.attributes().get(key), value)) {
                throw new AssertionError("attribute " + key + " is not found");
            }
        });
    }
}
