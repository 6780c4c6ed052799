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
    /** Number of bits of a position that select the stripe: the highest. The next bits select the bucket. */
    static final int STRIPE_BITS = 10;

    /** Number of positions. Many clients store a cursor in a double, which represents integers up to 2^53 exactly. */
    static final long POSITIONS = 1L << 53;

    /** Number of bits by which a position is shifted right to obtain the stripe. */
    static final int STRIPE_SHIFT = Long.numberOfTrailingZeros(POSITIONS) - STRIPE_BITS;

    final ReentrantLock lock = new ReentrantLock();
    /** Number of accepted batches that contain catalog entries for this stripe and are not durable yet. */
    final AtomicInteger changesInFlight = new AtomicInteger();

    private @Nullable CatalogDocument[] buckets = new @Nullable CatalogDocument[FIRST_BUCKETS];
    private int size;

    @Nullable
    CatalogDocument find(DocumentName name) {
        for (CatalogDocument document = buckets[bucket(name.position())];
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
     * Returns the first {@code count} documents from this position on, in the order of their positions, and those with
     * the same position as the last of them. Growth splits each bucket into two buckets that are adjacent in this
     * order, so the order never changes.
     */
    List<CatalogDocument> from(long position, int count) {
        List<CatalogDocument> found = new ArrayList<>();
        for (int i = bucket(position); i < buckets.length && found.size() < count; i++) {
            List<CatalogDocument> bucket = new ArrayList<>();
            for (CatalogDocument document = buckets[i]; document != null; document = document.nextInBucket) {
                if (position(document) >= position) {
                    bucket.add(document);
                }
            }
            bucket.sort(Comparator.comparingLong(DocumentTable::position));
            found.addAll(bucket);
        }
        int end = Math.min(count, found.size());
        while (end < found.size() && position(found.get(end)) == position(found.get(end - 1))) {
            end++;
        }
        return found.subList(0, end);
    }

    static long position(CatalogDocument document) {
        return DocumentName.position(document.name);
    }

    private int bucket(long position) {
        int bits = Integer.numberOfTrailingZeros(buckets.length);
        return (int) (position >>> STRIPE_SHIFT - bits) & buckets.length - 1;
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
        int bucket = bucket(position(document));
        document.nextInBucket = buckets[bucket];
        buckets[bucket] = document;
    }

    /** Removes a document that is in the table. */
    void remove(CatalogDocument document) {
        int bucket = bucket(position(document));
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
