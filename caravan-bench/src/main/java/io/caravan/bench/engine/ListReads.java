package io.caravan.bench.engine;

import io.caravan.Durability;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.peers.Peer;
import io.caravan.bench.peers.PeerReader;
import io.caravan.bench.peers.PeerStore;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Measures reads of complete lists that are in memory. The stores are filled in the first turn and reopened in every
 * turn, because filling them takes longer than everything else.
 */
final class ListReads implements Measure {
    private static final String NOTES =
            "Whole lists are read in a scattered order; the length and the last byte of every value are checked. All"
                    + " have been read once before the clock starts. With two threads, the time is divided by what"
                    + " both read. Every store was filled list by list, so that each list is contiguous; \"%s\" is"
                    + " Caravan filled with one entry to each list in turn, as documents grow. Caravan verifies each"
                    + " entry's checksum, the others do not. Chronicle Queue has no lists: each thread scans all of"
                    + " it in order. No list is started after %,.1f s.";
    private static final String GROWN_TOGETHER = "Caravan, lists grown together";
    private static final String NO_MATTER = "does not matter to reads";
    private static final int[] THREADS = {1, 2};
    private static final int BATCH = 10_000;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MB_PER_GB = 1e3;

    private final Workload workload;
    private final int lists;
    private final int entries;
    private final long limitNanos;
    private final List<Subject> subjects = new ArrayList<>();
    private final Results results = new Results();

    /** Creates this part of the benchmark, which reads {@code lists} lists of {@code entries} entries each. */
    ListReads(Stores stores, Workload workload, int lists, int entries, long limitNanos) {
        this.workload = workload;
        this.lists = lists;
        this.entries = entries;
        this.limitNanos = limitNanos;
        Opener caravan = path -> new CaravanLists(stores.open(path, Durability.PROCESS));
        subjects.add(new Subject(Contestant.CARAVAN, true, caravan, false));
        subjects.add(new Subject(GROWN_TOGETHER, true, caravan, true));
        for (Peer peer : Peer.values()) {
            if (peer != Peer.ROCKSDB_PUTS) {
                subjects.add(new Subject(peer.title(), peer.findsLists(), path -> peer.open(path, false), false));
            }
        }
    }

    /** A store to read, whose lists were filled either together or one after another. */
    private record Subject(String system, boolean findsLists, Opener opener, boolean together) {}

    private interface Opener {
        PeerStore open(Path directory) throws IOException;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        for (Subject subject : turn.inTurn(subjects)) {
            Path directory = turn.work().resolve("lists-" + subjects.indexOf(subject));
            if (!Files.exists(directory)) {
                turn.say(name(1) + ": filling " + subject.system);
                fill(subject, directory);
            }
            turn.say(name(1) + ": " + subject.system);
            read(subject, directory);
        }
        copy();
    }

    private void fill(Subject subject, Path directory) throws IOException {
        try (PeerStore store = subject.opener.open(directory)) {
            for (int i = 0; i < lists * entries; i++) {
                store.append(subject.together ? i % lists : i / entries, workload.value(i));
                if (i % BATCH == BATCH - 1) {
                    store.commit();
                }
            }
            store.commit();
        } catch (IOException | RuntimeException failed) {
            WorkDirectories.delete(directory);
            throw failed;
        }
    }

    private void read(Subject subject, Path directory) throws IOException, InterruptedException {
        try (PeerStore store = subject.opener.open(directory)) {
            ReadPass pass = new ReadPass(lists, entries, limitNanos);
            pass.run(store::reader, subject.findsLists, 1);
            for (int threads : THREADS) {
                results.add(
                        name(threads), subject.system, NO_MATTER, pass.run(store::reader, subject.findsLists, threads));
            }
        }
    }

    private void copy() throws IOException {
        Measurement copied = new CopiedValues(workload, lists * entries, limitNanos).run();
        double each = NANOS_PER_SECOND / copied.get(Figure.APPENDS_PER_SECOND);
        results.add(
                name(1),
                CopiedValues.SYSTEM,
                CopiedValues.DURABILITY,
                new Measurement()
                        .with(ReadPass.NANOS_PER_ENTRY, each)
                        .with(Figure.GB_PER_SECOND, copied.get(Figure.VALUE_MB_PER_SECOND) / MB_PER_GB));
    }

    private String name(int threads) {
        return String.format(
                Locale.ROOT,
                "%,d lists of %d entries, %s",
                lists,
                entries,
                threads == 1 ? "one thread" : "two threads");
    }

    @Override
    public Table table() {
        return new Table(
                "whole lists read",
                String.format(Locale.ROOT, NOTES, GROWN_TOGETHER, limitNanos / NANOS_PER_SECOND),
                results);
    }

    @Override
    public List<Picture> pictures() {
        String title = "Whole lists read from memory";
        Bars bars = new Bars(title, "nanoseconds an entry")
                .group("one thread", results, name(1), ReadPass.NANOS_PER_ENTRY)
                .group("two threads", results, name(2), ReadPass.NANOS_PER_ENTRY)
                .logarithmic();
        subjects.forEach(subject -> bars.system(subject.system, subject.system, NO_MATTER));
        return List.of(new Picture(
                "list-reads",
                title,
                "Lower is better; the scale is logarithmic. Caravan verifies every entry's checksum. Chronicle Queue"
                        + " has no lists"
                        + " and is scanned in order.",
                bars.chart()));
    }

    /** Reads complete lists in scattered order, on one or more threads, until all have been read or the time is up. */
    private static final class ReadPass {
        static final Figure NANOS_PER_ENTRY = new Figure("ns an entry", "%,.0f");
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
         * Reads the lists. The measured time is the elapsed time, not the sum over the threads, so two threads that do
         * not impede each other halve the time for each entry.
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
                    .with(NANOS_PER_ENTRY, (double) nanos / all.values)
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
}
