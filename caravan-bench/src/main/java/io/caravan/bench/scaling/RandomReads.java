package io.caravan.bench.scaling;

import java.util.SplittableRandom;

/** The lower bound of a lookup in a large table: dependent reads of memory across a buffer, one cache line each. */
final class RandomReads {
    private static final int LINE_LONGS = 8;
    private static final int READS = 10_000;

    private final long[] buffer;
    private long at;

    /** Prepares a buffer of about this size, whose lines form one cycle in random order (Sattolo's shuffle). */
    RandomReads(long bytes, long seed) {
        int lines = (int) Math.max(2, bytes / (LINE_LONGS * Long.BYTES));
        buffer = new long[lines * LINE_LONGS];
        int[] order = new int[lines];
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < lines; i++) {
            order[i] = i;
        }
        for (int i = lines - 1; i > 0; i--) {
            int other = random.nextInt(i);
            int swapped = order[i];
            order[i] = order[other];
            order[other] = swapped;
        }
        for (int i = 0; i < lines; i++) {
            buffer[i * LINE_LONGS] = (long) order[i] * LINE_LONGS;
        }
    }

    /** Nanoseconds a read. */
    double run(long durationNanos) {
        long count = 0;
        long position = at;
        long start = System.nanoTime();
        long now = start;
        while (now - start < durationNanos) {
            for (int i = 0; i < READS; i++) {
                position = buffer[(int) position];
            }
            count += READS;
            now = System.nanoTime();
        }
        // Prevents the reads from being optimized away.
        at = position;
        return (double) (now - start) / count;
    }

    /** Follows the chain until it returns to its start. */
    int cycleLength() {
        int count = 0;
        long position = 0;
        do {
            position = buffer[(int) position];
            count++;
        } while (position != 0);
        return count;
    }
}
