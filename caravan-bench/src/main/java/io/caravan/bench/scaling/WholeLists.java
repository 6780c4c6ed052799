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
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.knowm.xchart.CategoryChart;

/** Reads lists from end to end and checks every value, beside the checksums of as many bytes alone. */
final class WholeLists implements Measure {
    private static final int ENTRIES = 200;
    private static final int SEED = 1;
    private static final Figure LIST_MICROS = new Figure("a list, us", "%,.1f");
    private static final Figure ENTRY_NANOS = new Figure("an entry, ns", "%,.1f");
    private static final double NANOS_PER_MICRO = 1e3;

    private final Results results = new Results();
    private final long durationNanos;
    private final List<Shape> shapes;

    /** The shape of the lists. */
    private record Shape(int lists, int valueBytes) {
        String workload() {
            return String.format(Locale.ROOT, "lists of %,d values of %,d bytes", ENTRIES, valueBytes);
        }

        long listBytes() {
            return (long) ENTRIES * valueBytes;
        }
    }

    WholeLists(boolean quick) {
        durationNanos = Duration.ofMillis(quick ? 10 : 500).toNanos();
        int lists = quick ? 10 : 1_000;
        shapes = List.of(new Shape(lists, 191), new Shape(Math.max(1, lists / 5), 4096));
    }

    @Override
    public void run(Turn turn) throws IOException {
        for (Shape shape : turn.inTurn(shapes)) {
            turn.say(shape.workload());
            Path directory = turn.work().resolve("lists");
            try (DurableListStore store = DurableListStore.open(StoreShelf.config(directory))) {
                fill(store, shape);
                read(store, shape);
                results.add(new Row(shape.workload(), StoreSizes.CARAVAN, StoreSizes.DURABILITY), read(store, shape));
            }
            Directories.delete(directory);
            results.add(new Row(shape.workload(), machine(), StoreSizes.NO_DURABILITY), checksums(shape));
        }
    }

    private static String machine() {
        return Charts.MACHINE + ": CRC-32C of each value";
    }

    private static void fill(DurableListStore store, Shape shape) {
        byte[] value = new byte[shape.valueBytes()];
        for (int entry = 0; entry < ENTRIES; entry++) {
            for (int list = 0; list < shape.lists(); list++) {
                store.append(list, value, StoreShelf.CALLBACK);
            }
        }
        store.flush();
    }

    private Measurement read(DurableListStore store, Shape shape) {
        ByteCount bytes = new ByteCount();
        SplittableRandom random = new SplittableRandom(SEED);
        long start = System.nanoTime();
        long now = start;
        long lists = 0;
        while (now - start < durationNanos) {
            store.get(random.nextInt(shape.lists()), bytes);
            lists++;
            now = System.nanoTime();
        }
        if (bytes.sum != lists * shape.listBytes()) {
            throw new IllegalStateException(lists + " " + shape.workload() + " had " + bytes.sum + " bytes");
        }
        return measurement(shape, lists, now - start);
    }

    /** Checksums of a copy of the bytes in memory, list by list in random order, as the store reads them. */
    private Measurement checksums(Shape shape) {
        ValueChecksums values = new ValueChecksums(shape.lists() * ENTRIES, shape.valueBytes());
        SplittableRandom random = new SplittableRandom(SEED);
        long start = System.nanoTime();
        long now = start;
        long lists = 0;
        while (now - start < durationNanos) {
            values.compute(random.nextInt(shape.lists()) * ENTRIES, ENTRIES);
            lists++;
            now = System.nanoTime();
        }
        return measurement(shape, lists, now - start);
    }

    private static Measurement measurement(Shape shape, long lists, long nanos) {
        double listNanos = (double) nanos / lists;
        return new Measurement()
                .with(Figure.GB_PER_SECOND, shape.listBytes() / listNanos)
                .with(LIST_MICROS, listNanos / NANOS_PER_MICRO)
                .with(ENTRY_NANOS, listNanos / ENTRIES);
    }

    /** Adds up the lengths of the entries it receives. */
    private static final class ByteCount implements EntryStream {
        private long sum;

        @Override
        public boolean next(long sequence, ByteBuffer value) {
            sum += value.remaining();
            return true;
        }

        @Override
        public void finished() {
            // The byte count is sufficient.
        }
    }

    @Override
    public Table table() {
        return new Table(
                "Whole lists",
                "After a warm-up of the same length, one thread reads random lists from a store whose files are in"
                        + " memory, and verifies every value's checksum. The lists were written in turn, so the"
                        + " values of a list are scattered in the heap; in the machine's buffer they are contiguous.",
                results);
    }

    @Override
    public List<Picture> pictures() {
        String title = "Reading whole lists, every checksum compared";
        CategoryChart chart = Charts.bars(title, "", "GB of values a second");
        List<String> workloads = shapes.stream().map(Shape::workload).toList();
        addBars(chart, StoreSizes.CARAVAN, StoreSizes.DURABILITY, workloads);
        addBars(chart, machine(), StoreSizes.NO_DURABILITY, workloads);
        return List.of(new Picture(
                "whole-lists",
                title,
                "Higher is better. The grey bar only computes the same checksums over the same number of bytes.",
                chart));
    }

    private void addBars(CategoryChart chart, String system, String durability, List<String> workloads) {
        Charts.add(
                chart,
                system,
                workloads,
                workloads.stream()
                        .map(workload -> results.median(new Row(workload, system, durability), Figure.GB_PER_SECOND))
                        .toList());
    }
}
