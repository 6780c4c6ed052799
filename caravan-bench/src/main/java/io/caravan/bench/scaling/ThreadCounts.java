package io.caravan.bench.scaling;

import io.caravan.DurableListStore;
import io.caravan.EntryStream;
import io.caravan.bench.Directories;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.XYChart;

/** Appends and reads by increasing numbers of threads. */
final class ThreadCounts implements Measure {
    private static final List<Integer> COUNTS = List.of(1, 2, 4, 16, 64);
    private static final int BATCH = 100;
    private static final int FEW = 1;
    private static final Runnable NOTHING = () -> {};
    private static final Figure OPERATIONS_PER_SECOND = new Figure("operations/s", "%,.0f");

    private static final String GET = "get of 10 entries";
    private static final String MISSING = "get of a missing list";
    private static final String APPEND = "append, not waited for";
    private static final String WAITING = "append, each waited for";
    private static final String LOCK = "one lock, taken and released";

    private final Results results = new Results();
    private final Size size;
    private final List<Integer> counts;
    private final long durationNanos;
    private @Nullable StoreShelf shelf;

    ThreadCounts(boolean quick) {
        size = quick ? new Size(1_000, 100) : new Size(1_000_000, 100_000);
        counts = quick ? List.of(1, 2) : COUNTS;
        durationNanos = Duration.ofMillis(quick ? 5 : 150).toNanos();
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        StoreShelf stores =
                shelf == null ? new StoreShelf(Files.createTempDirectory(turn.work(), "shelf"), false) : shelf;
        Path full = stores.get(size).directory();
        Path fresh = turn.work().resolve("threads");
        try (DurableListStore read = DurableListStore.open(StoreShelf.config(full));
                DurableListStore written = DurableListStore.open(StoreShelf.config(fresh))) {
            if (shelf == null) {
                shelf = stores;
                turn.say("threads, warming up");
                measure(new Results(), 2, read, written);
            }
            for (int threads : turn.inTurn(counts)) {
                turn.say("threads: " + threads);
                measure(results, threads, read, written);
            }
        }
        Directories.delete(fresh);
    }

    private void measure(Results to, int threads, DurableListStore read, DurableListStore written)
            throws InterruptedException {
        byte[] value = new byte[StoreShelf.VALUE_BYTES];
        try (Crew crew = new Crew(threads, durationNanos)) {
            add(to, GET, threads, crew.run(BATCH, reads(read, 0), NOTHING));
            add(to, MISSING, threads, crew.run(BATCH, reads(read, size.lists()), NOTHING));
            add(to, APPEND, threads, crew.run(BATCH, thread -> appends(written, thread, value), written::flush));
            add(to, WAITING, threads, crew.run(FEW, thread -> waitingAppends(written, thread, value), NOTHING));
            ReentrantLock lock = new ReentrantLock();
            add(to, LOCK, threads, crew.run(BATCH, thread -> locks(lock), NOTHING));
        }
    }

    private IntFunction<Callable<?>> reads(DurableListStore store, long firstId) {
        return thread -> {
            SplittableRandom random = new SplittableRandom(thread);
            Ignoring ignoring = new Ignoring();
            return () -> {
                store.get(firstId + random.nextInt(size.lists()), ignoring);
                return ignoring;
            };
        };
    }

    private Callable<?> appends(DurableListStore store, int thread, byte[] value) {
        SplittableRandom random = new SplittableRandom(thread);
        return () -> {
            store.append(random.nextInt(size.lists()), value, StoreShelf.CALLBACK);
            return value;
        };
    }

    private Callable<?> waitingAppends(DurableListStore store, int thread, byte[] value) {
        SplittableRandom random = new SplittableRandom(thread);
        return () -> store.append(random.nextInt(size.lists()), value).get();
    }

    private static Callable<?> locks(ReentrantLock lock) {
        return () -> {
            lock.lock();
            lock.unlock();
            return lock;
        };
    }

    private static void add(Results to, String operation, int threads, double rate) {
        to.add(row(operation, threads), new Measurement().with(OPERATIONS_PER_SECOND, rate));
    }

    private static Row row(String operation, int threads) {
        boolean machine = operation.equals(LOCK);
        return new Row(
                operation + ", threads: " + threads,
                machine ? Charts.MACHINE : StoreSizes.CARAVAN,
                machine ? StoreSizes.NO_DURABILITY : StoreSizes.DURABILITY);
    }

    /** Ignores all entries. */
    private static final class Ignoring implements EntryStream {
        @Override
        public boolean next(long sequence, ByteBuffer value) {
            return true;
        }

        @Override
        public void finished() {
            // Nothing to do at the end.
        }
    }

    @Override
    public Table table() {
        return new Table(
                "By threads",
                "Reads from a store of " + size + "; appends to as many lists of a store that is empty at the start"
                        + " of the run; values of " + StoreShelf.VALUE_BYTES + " bytes. Each for "
                        + Duration.ofNanos(durationNanos).toMillis()
                        + " ms. The machine's row is one lock that all threads acquire and release, as the store has"
                        + " one too.",
                results);
    }

    @Override
    public List<Picture> pictures() {
        String title = "Operations a second, by threads";
        XYChart chart = Charts.lines(title, "threads", "operations a second, all threads together");
        Charts.logX(chart);
        Charts.logY(chart);
        chart.getStyler()
                .setXAxisLogarithmicDecadeOnly(false)
                .setXAxisDecimalPattern(SizePictures.NUMBERS)
                .setYAxisDecimalPattern(SizePictures.NUMBERS);
        for (String operation : List.of(MISSING, GET, APPEND, WAITING)) {
            addLine(chart, operation, operation);
        }
        addLine(chart, Charts.MACHINE + ": " + LOCK, LOCK);
        return List.of(new Picture(
                "by-threads",
                title,
                "Good is a rise up to the number of cores, and flat beyond it. The dashed line is a single lock that"
                        + " all threads acquire and release.",
                chart));
    }

    private void addLine(XYChart chart, String name, String operation) {
        Charts.add(
                chart,
                name,
                counts.stream().map(Integer::doubleValue).toList(),
                counts.stream()
                        .map(threads -> results.median(row(operation, threads), OPERATIONS_PER_SECOND))
                        .toList());
    }
}
