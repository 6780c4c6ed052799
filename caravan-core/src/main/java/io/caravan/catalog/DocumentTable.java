package io.caravan.catalog;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One stripe of the catalog's documents: a hash table with chained buckets, and the lock over the names that fall in it.
 * There are many stripes, so that growing one of them is short.
 */
final class DocumentTable {
    private static final int FIRST_BUCKETS = 4;

    final ReentrantLock lock = new ReentrantLock();
    /** Batches with catalog entries for this stripe that the store accepted and that are not durable yet. */
    final AtomicInteger changesInFlight = new AtomicInteger();

    private @Nullable Document[] buckets = new @Nullable Document[FIRST_BUCKETS];
    private int size;

    @Nullable
    Document find(DocumentName name) {
        for (Document document = buckets[bucket(name.hashCode())]; document != null; document = document.nextInBucket) {
            if (Arrays.equals(document.name, name.bytes())) {
                return document;
            }
        }
        return null;
    }

    /** Calls the action with every document, in no particular order. */
    void forEach(Consumer<Document> action) {
        for (Document head : buckets) {
            for (Document document = head; document != null; document = document.nextInBucket) {
                action.accept(document);
            }
        }
    }

    /** The low bits chose the stripe, so the high ones choose the bucket. */
    private int bucket(int hash) {
        return (hash >>> Catalog.STRIPE_BITS) & (buckets.length - 1);
    }

    /** Adds a document whose name is not in the table. */
    void add(Document document) {
        if (size == buckets.length) {
            grow();
        }
        link(document);
        size++;
    }

    private void link(Document document) {
        int bucket = bucket(DocumentName.hash(document.name));
        document.nextInBucket = buckets[bucket];
        buckets[bucket] = document;
    }

    private void grow() {
        @Nullable Document[] old = buckets;
        buckets = new @Nullable Document[old.length * 2];
        for (Document head : old) {
            Document document = head;
            while (document != null) {
                Document next = document.nextInBucket;
                link(document);
                document = next;
            }
        }
    }

    /** Removes a document that is in the table. */
    void remove(Document document) {
        int bucket = bucket(DocumentName.hash(document.name));
        Document before = buckets[bucket];
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
