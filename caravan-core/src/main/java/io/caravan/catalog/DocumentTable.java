package io.caravan.catalog;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One stripe of the catalog's documents: a hash table with chained buckets, and the lock for the stripe's names. The
 * number of stripes is large, so that the growth of one stripe takes little time.
 */
final class DocumentTable {
    private static final int FIRST_BUCKETS = 4;
    /** Number of bits in the place of a document: the hash bits that do not select the stripe. */
    static final int PLACE_BITS = Integer.SIZE - Catalog.STRIPE_BITS;

    final ReentrantLock lock = new ReentrantLock();
    /** Number of accepted batches that contain catalog entries for this stripe and are not durable yet. */
    final AtomicInteger changesInFlight = new AtomicInteger();

    private @Nullable CatalogDocument[] buckets = new @Nullable CatalogDocument[FIRST_BUCKETS];
    private int size;

    @Nullable
    CatalogDocument find(DocumentName name) {
        for (CatalogDocument document = buckets[bucket(name.hashCode())];
                document != null;
                document = document.nextInBucket) {
            if (Arrays.equals(document.name, name.bytes())) {
                return document;
            }
        }
        return null;
    }

    /** Calls the action with every document, in no particular order. */
    void forEach(Consumer<CatalogDocument> action) {
        for (CatalogDocument head : buckets) {
            for (CatalogDocument document = head; document != null; document = document.nextInBucket) {
                action.accept(document);
            }
        }
    }

    /**
     * Returns at most {@code count} documents from this place and tie on, in the order of their places and {@linkplain
     * #tie ties}. Growth splits each bucket into two buckets that are adjacent in this order, so the order never
     * changes.
     */
    List<CatalogDocument> from(int place, int tie, int count) {
        int bits = Math.min(PLACE_BITS, Integer.numberOfTrailingZeros(buckets.length));
        List<CatalogDocument> found = new ArrayList<>();
        List<CatalogDocument> bucket = new ArrayList<>();
        for (int i = place >>> PLACE_BITS - bits; i < 1 << bits && found.size() < count; i++) {
            bucket.clear();
            CatalogDocument document = buckets[Integer.reverse(i) >>> Integer.SIZE - bits];
            for (; document != null; document = document.nextInBucket) {
                int at = place(document);
                if (at > place || at == place && tie(document) >= tie) {
                    bucket.add(document);
                }
            }
            bucket.sort(Comparator.comparingInt(DocumentTable::place).thenComparingInt(DocumentTable::tie));
            found.addAll(bucket.subList(0, Math.min(bucket.size(), count - found.size())));
        }
        return found;
    }

    /** Returns a document's place, which never changes: the reversed bits of its hash that select buckets. */
    static int place(CatalogDocument document) {
        return Integer.reverse(DocumentName.hash(document.name) >>> Catalog.STRIPE_BITS) >>> Catalog.STRIPE_BITS;
    }

    /**
     * Returns a number that distinguishes documents with the same place: the low bits of the document's id, which are
     * unique as long as ids are below 2^31.
     */
    static int tie(CatalogDocument document) {
        return (int) document.id & Integer.MAX_VALUE;
    }

    /** Returns the bucket of a hash. The high bits select the bucket, because the low bits select the stripe. */
    private int bucket(int hash) {
        return (hash >>> Catalog.STRIPE_BITS) & (buckets.length - 1);
    }

    /** Adds a document whose name is not in the table. */
    void add(CatalogDocument document) {
        if (size == buckets.length) {
            List<CatalogDocument> documents = new ArrayList<>(size);
            forEach(documents::add);
            buckets = new @Nullable CatalogDocument[buckets.length * 2];
            documents.forEach(this::link);
        }
        link(document);
        size++;
    }

    private void link(CatalogDocument document) {
        int bucket = bucket(DocumentName.hash(document.name));
        document.nextInBucket = buckets[bucket];
        buckets[bucket] = document;
    }

    /** Removes a document that is in the table. */
    void remove(CatalogDocument document) {
        int bucket = bucket(DocumentName.hash(document.name));
        CatalogDocument before = buckets[bucket];
        if (before == document) {
            buckets[bucket] = document.nextInBucket;
        } else {
            while (before != null && before.nextInBucket != document) {
                before = before.nextInBucket;
            }
            if (before == null) {
                throw new IllegalStateException("document " + document.id + " is not in its table");
            }
            before.nextInBucket = document.nextInBucket;
        }
        document.nextInBucket = null;
        size--;
    }
}
