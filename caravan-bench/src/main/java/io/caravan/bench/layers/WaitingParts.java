package io.caravan.bench.layers;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.StoreStats;
import io.caravan.bench.Directories;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.ForceProbe;
import io.caravan.bench.report.HandFile;
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
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.HdrHistogram.Histogram;
import org.knowm.xchart.CategoryChart;

/**
 * Splits one append that is waited for into parts by the store's own metrics, beside the machine's time for each part.
 */
final class WaitingParts implements Measure {
    private static final int DIGITS = 3;
    private static final double NANOS_PER_MICRO = 1e3;
    private static final String FORCED = "forced";

    private static final Row UNPARK = machine("from unpark to running in another thread", Layers.MEMORY);
    private static final Row WRITE = machine("write of 4 KiB, allocated file", "not forced");
    private static final Row FORCE = machine("force after it", FORCED);

    private final Results results = new Results();
    private final int count;
    private final long maxNanos;

    WaitingParts(boolean quick) {
        count = quick ? 100 : 5_000;
        maxNanos = quick ? 200_000_000L : 1_000_000_000L;
    }

    private static Row machine(String workload, String durability) {
        return new Row(workload, Charts.MACHINE, durability);
    }

    /** The parts of an append that is waited for, by the store's metrics. */
    private enum Part {
        WAKE_FLUSHER("accepted, until the flusher writes"),
        WRITE_AND_FORCE("write and force"),
        WAKE_CALLER("acknowledged, until the writer runs");

        private final String title;

        Part(String title) {
            this.title = title;
        }
    }

    private static Row whole(Durability durability) {
        return new Row("one append, waited for", Layers.CARAVAN, durability.name());
    }

    private static Row part(Durability durability, Part part) {
        return new Row("of it: " + part.title, Layers.CARAVAN, durability.name());
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        turn.say("wake-ups and forces");
        results.add(UNPARK, latency(new WakeUps(count).run()));
        writeAndForce(turn.work());
        for (Durability durability : turn.inTurn(List.of(Durability.SYNC, Durability.PROCESS))) {
            turn.say("appends that are waited for, " + durability);
            appends(turn.work().resolve("waiting"), durability);
        }
    }

    private void writeAndForce(Path work) throws IOException {
        Histogram writes = new Histogram(DIGITS);
        Histogram forces = new Histogram(DIGITS);
        Path path = work.resolve("waiting.log");
        try (HandFile file = new HandFile(path)) {
            file.prepare((long) count * ForceProbe.SMALL_BLOCK_BYTES);
            ByteBuffer block = ByteBuffer.allocateDirect(ForceProbe.SMALL_BLOCK_BYTES);
            long end = System.nanoTime() + maxNanos;
            for (int i = 0; i < count && System.nanoTime() - end < 0; i++) {
                long start = System.nanoTime();
                file.write(block.clear(), (long) i * ForceProbe.SMALL_BLOCK_BYTES);
                long written = System.nanoTime();
                file.force();
                writes.recordValue(written - start);
                forces.recordValue(System.nanoTime() - written);
            }
        }
        Files.delete(path);
        results.add(WRITE, latency(writes));
        results.add(FORCE, latency(forces));
    }

    private void appends(Path directory, Durability durability) throws IOException, InterruptedException {
        StoreConfig config =
                StoreConfig.builder(directory).durability(durability).build();
        try (ListStore store = DurableListStore.open(config)) {
            waited(store);
            Histogram nanos = waited(store);
            StoreStats stats = store.stats();
            results.add(whole(durability), latency(nanos));
            long p50 = nanos.getValueAtPercentile(50);
            long ackP50 = stats.ackNanos().p50();
            long forceP50 = stats.forceNanos().p50();
            addPart(durability, Part.WAKE_FLUSHER, ackP50 - forceP50);
            addPart(durability, Part.WRITE_AND_FORCE, forceP50);
            addPart(durability, Part.WAKE_CALLER, p50 - ackP50);
        }
        Directories.delete(directory);
    }

    private void addPart(Durability durability, Part part, long p50Nanos) {
        results.add(
                part(durability, part),
                new Measurement().with(Figure.P50_MICROS, Math.max(0, p50Nanos) / NANOS_PER_MICRO));
    }

    private Histogram waited(ListStore store) throws IOException, InterruptedException {
        Histogram nanos = new Histogram(DIGITS);
        byte[] value = Shape.value();
        int[] ids = Shape.ids();
        long end = System.nanoTime() + maxNanos;
        long last = System.nanoTime();
        for (int i = 0; i < count && last - end < 0; i++) {
            try {
                store.append(ids[Shape.at(i)], value).get();
            } catch (ExecutionException failed) {
                throw new IOException("an append failed", failed.getCause());
            }
            long now = System.nanoTime();
            nanos.recordValue(now - last);
            last = now;
        }
        return nanos;
    }

    private static Measurement latency(Histogram nanos) {
        return new Measurement().latency(nanos.getValueAtPercentile(50), nanos.getValueAtPercentile(99));
    }

    @Override
    public Table table() {
        return new Table(
                "One append that is waited for",
                "One thread appends and waits, up to 5,000 times or 1 s, after an equal warm-up. The parts are"
                        + " differences of medians: those of the store's own metrics (acceptance to acknowledgement;"
                        + " write and force), which are accurate to 6 percent, and those that the caller measures."
                        + " The first part includes the flusher's wake-up, the last the caller's.",
                results);
    }

    @Override
    public List<Picture> pictures() {
        String title = "One append that is waited for, in its parts";
        CategoryChart chart = Charts.bars(title, "", "microseconds, medians");
        chart.getStyler().setStacked(true);
        List<String> bars = List.of("store, SYNC", "machine, forced", "store, PROCESS", "machine, not forced");
        double unpark = results.median(UNPARK, Figure.P50_MICROS);
        double write = results.median(WRITE, Figure.P50_MICROS);
        double force = results.median(FORCE, Figure.P50_MICROS);
        Charts.add(chart, Part.WAKE_FLUSHER.title, bars, parts(Part.WAKE_FLUSHER, unpark, unpark));
        Charts.add(chart, Part.WRITE_AND_FORCE.title, bars, parts(Part.WRITE_AND_FORCE, write + force, write));
        Charts.add(chart, Part.WAKE_CALLER.title, bars, parts(Part.WAKE_CALLER, unpark, unpark));
        return List.of(new Picture(
                "waiting-parts",
                title,
                "From the bottom: until the flusher writes, write and force, until the writer runs again. The"
                        + " machine's bars are"
                        + " an unpark, a write of 4 KiB (with its force) and another unpark, each measured alone: a"
                        + " thread that has slept for long wakes more slowly than one that has just gone to sleep."
                        + " Differences of medians need not add up to the whole.",
                chart));
    }

    private List<Double> parts(Part part, double machineForced, double machineNotForced) {
        return List.of(
                results.median(part(Durability.SYNC, part), Figure.P50_MICROS),
                machineForced,
                results.median(part(Durability.PROCESS, part), Figure.P50_MICROS),
                machineNotForced);
    }
}
