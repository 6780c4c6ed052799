package io.caravan.bench.scaling;

import io.caravan.EntryStream;
import io.caravan.ListStore;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * One thread's operations on random lists, each for a given time; measures the mean time of one, in nanoseconds. Checks
 * that reads return the expected entries.
 */
final class StoreOperations {
    /** Number of appends between two flushes, and of reads between two readings of the clock. */
    static final int APPENDS = 20_000;

    private static final int READS = 200;
    /**
     * Number of reads drawn in advance, a power of two: more than one measurement makes, or enough to touch the whole
     * index.
     */
    private static final int READ_AHEAD = 1 << 20;

    private final ListStore store;
    private final Size size;
    private final int[] nextSequences;
    private final long durationNanos;
    private final SplittableRandom random;
    private final Counting entries = new Counting();
    private final byte[] value = new byte[StoreShelf.VALUE_BYTES];

    /**
     * Creates operations that run for a given time each.
     *
     * @param nextSequences the next sequence of each list, by id; kept up to date
     */
    StoreOperations(ListStore store, Size size, int[] nextSequences, long durationNanos, long seed) {
        this.store = store;
        this.size = size;
        this.nextSequences = nextSequences;
        this.durationNanos = durationNanos;
        this.random = new SplittableRandom(seed);
    }

    /** Counts the entries it receives. */
    private static final class Counting implements EntryStream {
        private long count;

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            count++;
            return true;
        }

        @Override
        public void finished() {
            // The number of entries is sufficient.
        }
    }

    /** Appends without waiting, then flushes. After each round, trims as many entries, untimed. */
    double append() {
        long nanos = 0;
        long count = 0;
        int[] ids = new int[APPENDS];
        long end = System.nanoTime() + durationNanos;
        while (count == 0 || System.nanoTime() - end < 0) {
            for (int i = 0; i < APPENDS; i++) {
                ids[i] = random.nextInt(size.lists());
            }
            long start = System.nanoTime();
            for (int id : ids) {
                store.append(id, value, StoreShelf.CALLBACK);
            }
            store.flush();
            nanos += System.nanoTime() - start;
            count += APPENDS;
            for (int id : ids) {
                nextSequences[id]++;
                store.trim(id, 1, StoreShelf.CALLBACK);
            }
            store.flush();
        }
        return (double) nanos / count;
    }

    /** Reads whole lists. */
    double get() {
        return timed(() -> store.get(random.nextInt(size.lists()), entries), size.entriesPerList());
    }

    /** Reads missing lists. */
    double getMissing() {
        return timed(() -> store.get(size.lists() + (long) random.nextInt(size.lists()), entries), 0);
    }

    /** Reads the last entry, whose sequence is looked up before the clock starts. */
    double getLast() {
        int[] ids = new int[READ_AHEAD];
        int[] last = new int[READ_AHEAD];
        for (int i = 0; i < READ_AHEAD; i++) {
            ids[i] = random.nextInt(size.lists());
            last[i] = nextSequences[ids[i]] - 1;
        }
        int[] next = {0};
        return timed(
                () -> {
                    int i = next[0]++ & READ_AHEAD - 1;
                    store.get(ids[i], last[i], entries);
                },
                1);
    }

    private double timed(Runnable read, int expectedEntries) {
        // The first reads of a freshly opened store are not timed.
        readOn(read);
        entries.count = 0;
        long start = System.nanoTime();
        long count = readOn(read);
        long now = System.nanoTime();
        if (entries.count != count * expectedEntries) {
            throw new IllegalStateException(count + " reads of " + expectedEntries + " entries of a store of" + " "
                    + size + " returned " + entries.count);
        }
        return (double) (now - start) / count;
    }

    /** Reads until the time is up; returns the number of reads. */
    private long readOn(Runnable read) {
        long count = 0;
        long end = System.nanoTime() + durationNanos;
        while (System.nanoTime() - end < 0) {
            for (int i = 0; i < READS; i++) {
                read.run();
            }
            count += READS;
        }
        return count;
    }
}
