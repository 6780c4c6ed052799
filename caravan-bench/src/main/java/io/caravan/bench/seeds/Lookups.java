package io.caravan.bench.seeds;

import io.caravan.Durability;
import io.caravan.EntryStream;
import io.caravan.ListStore;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Reads whole small documents, one after another, for a given time.
 *
 * @param hit whether the documents exist
 */
record Lookups(String name, int documents, boolean hit, int millis) implements Work {
    private static final int LOOKS_AT_THE_CLOCK_EVERY = 1_000;
    private static final double NANOS_PER_MICRO = 1e3;

    @Override
    public Measurement run(Turn turn, Durability level) throws IOException, InterruptedException, ExecutionException {
        try (FreshStore fresh = new FreshStore(turn, level)) {
            fresh.fill(documents);
            fresh.store().flush();
            return measure(fresh.store());
        }
    }

    private Measurement measure(ListStore store) throws IOException {
        Counter found = new Counter();
        int offset = hit ? 0 : documents;
        long start = System.nanoTime();
        long end = start + TimeUnit.MILLISECONDS.toNanos(millis);
        long lookups = 0;
        do {
            for (int i = 0; i < LOOKS_AT_THE_CLOCK_EVERY; i++) {
                store.get(offset + lookups++ % documents, found);
            }
        } while (System.nanoTime() - end < 0);
        long nanos = System.nanoTime() - start;
        long expected = hit ? lookups : 0;
        if (found.values != expected) {
            throw new IOException(lookups + " lookups found " + found.values + " documents instead of " + expected);
        }
        return new Measurement().with(MICROS_EACH, nanos / NANOS_PER_MICRO / lookups);
    }

    /** Copies each value as a reader would, and counts it. */
    private static final class Counter implements EntryStream {
        private byte[] copy = new byte[0];
        private long values;

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            if (copy.length < value.remaining()) {
                copy = new byte[value.remaining()];
            }
            value.get(copy, 0, value.remaining());
            values++;
            return true;
        }

        @Override
        public void finished() {
            // There is no state to reset between lookups.
        }
    }
}
