package io.caravan.bench.engine;

import io.caravan.bench.peers.PeerReader;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Reads complete lists in scattered order, with one or more threads, until all have been read or the time is up. */
final class ReadPass {
    private static final double BYTES_PER_GB = 1e9;
    private static final double NANOS_PER_SECOND = 1e9;
    /** A step that has no common factor with the number of lists, so that every list is visited. */
    private static final long STEP = 7_919;

    private final int lists;
    private final int entries;
    private final long limitNanos;

    ReadPass(int lists, int entries, long limitNanos) {
        this.lists = lists;
        this.entries = entries;
        this.limitNanos = limitNanos;
    }

    interface Readers {
        PeerReader open() throws IOException;
    }

    /** Counts the values and their bytes, and reads the last byte of each value. */
    private static final class Sum implements PeerReader.Sink {
        private long values;
        private long bytes;
        private long lastBytes;

        @Override
        public void value(ByteBuffer value) {
            values++;
            bytes += value.remaining();
            lastBytes += value.get(value.limit() - 1);
        }
    }

    /**
     * Reads the lists. The measured time is the elapsed time, not the sum over the threads, so two threads that do not
     * impede each other halve the time for each entry.
     */
    Measurement run(Readers readers, boolean findsLists, int threads) throws IOException, InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            long start = System.nanoTime();
            List<Future<Sum>> sums = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int first = thread;
                sums.add(pool.submit(() -> read(readers, findsLists, first, threads, start)));
            }
            Sum all = new Sum();
            for (Future<Sum> sum : sums) {
                all.values += sum.get().values;
                all.bytes += sum.get().bytes;
            }
            return measurement(all, System.nanoTime() - start);
        } catch (ExecutionException failed) {
            throw new IOException("could not read a list", failed.getCause());
        } finally {
            pool.shutdownNow();
        }
    }

    private static Measurement measurement(Sum all, long nanos) {
        return new Measurement()
                .with(AppendFigures.NANOS_PER_ENTRY, (double) nanos / all.values)
                .with(Figure.GB_PER_SECOND, all.bytes / BYTES_PER_GB / (nanos / NANOS_PER_SECOND));
    }

    private Sum read(Readers readers, boolean findsLists, int first, int threads, long start) throws IOException {
        Sum sum = new Sum();
        try (PeerReader reader = readers.open()) {
            if (findsLists) {
                readLists(reader, sum, first, threads, start);
            } else {
                reader.readAll(lists, sum);
                check(sum, lists);
            }
        }
        return sum;
    }

    private void readLists(PeerReader reader, Sum sum, int first, int threads, long start) throws IOException {
        int done = 0;
        // Reads at least one list even if this thread starts late, because a rate needs at least one read.
        for (int i = first; i < lists && (done == 0 || System.nanoTime() - start < limitNanos); i += threads) {
            reader.read(i * STEP % lists, sum);
            done++;
        }
        check(sum, done);
    }

    private void check(Sum sum, int done) throws IOException {
        if (sum.values != (long) done * entries) {
            throw new IOException(sum.values + " values were read of " + done + " lists of " + entries);
        }
    }
}
