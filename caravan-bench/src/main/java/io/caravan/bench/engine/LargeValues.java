package io.caravan.bench.engine;

import io.caravan.Durability;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.engine.ProducerContestants.AsyncAppends.Batches;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.FsyncProbe;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Measures how many bytes per second are fsynced for values from 4 KiB to 256 KiB, compared with the disk's rate for
 * fsyncs of the same size.
 */
final class LargeValues implements Measure {
    private static final String NOTES =
            "One producer, acknowledgments by callbacks, everything fsynced. The machine's row is one thread that"
                    + " writes and fsyncs blocks to a preallocated file; their size is the mean size of the fresh"
                    + " store's fsyncs.";
    private static final int KIB = 1024;
    private static final int[] SIZES_KIB = {4, 16, 64, 256};
    private static final long LIMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1_500);
    private static final String DISK = Charts.MACHINE + ", fsyncs of that size";
    private static final String FSYNCED = "fsynced";

    private final List<Size> sizes = new ArrayList<>();
    private final Stores stores;
    private final int totalBytes;
    private final Results results = new Results();

    /** Creates this part of the benchmark, which appends {@code totalBytes} bytes for each value size. */
    LargeValues(Stores stores, long seed, int totalBytes) {
        this.stores = stores;
        this.totalBytes = totalBytes;
        for (int kib : SIZES_KIB) {
            sizes.add(new Size(kib, Workload.ofSize(seed, kib * KIB)));
        }
    }

    private record Size(int kib, Workload workload) {
        String name() {
            return "values of " + kib + " KiB";
        }
    }

    /** Measures, for each value size, a fresh store, a grown store, and then the disk. */
    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        for (Size size : sizes) {
            ProducerContestants producers =
                    new ProducerContestants(stores, size.workload, totalBytes / (size.kib * KIB), LIMIT_NANOS);
            Contest contest = new Contest(size.name(), results);
            contest.run(turn, List.of(producers.fresh(Durability.SYNC), producers.grown(Durability.SYNC)));
            contest.run(
                    turn, List.of(new Contestant(DISK, FSYNCED, directory -> fsync(directory, producers.batches()))));
        }
    }

    private static Measurement fsync(Path directory, Batches batches) throws IOException {
        WorkDirectories.create(directory);
        int count = (int) Math.max(1, batches.fsyncs());
        int block = (int) (batches.logBytes() / count);
        Measurement fsync = FsyncProbe.run(directory, block, count);
        return new Measurement()
                .with(Figure.LOG_MB_PER_SECOND, fsync.get(Figure.VALUE_MB_PER_SECOND))
                .batches(count, (long) block * count);
    }

    @Override
    public Table table() {
        return new Table("large values", NOTES, results);
    }

    @Override
    public List<Picture> pictures() {
        String title = "Large values, everything fsynced";
        Bars bars = new Bars(title, "MB/s of log").logarithmic();
        for (Size size : sizes) {
            bars.group(size.name(), results, size.name(), Figure.LOG_MB_PER_SECOND);
        }
        bars.system(Contestant.CARAVAN, Contestant.CARAVAN, Durability.SYNC.name())
                .system(Contestant.GROWN, Contestant.GROWN, Durability.SYNC.name())
                .system(DISK, DISK, FSYNCED);
        return List.of(new Picture(
                "large-values",
                title,
                "Higher is better; the scale is logarithmic. Grey is the disk's own rate with fsyncs of the same size"
                        + " as the store's.",
                bars.chart()));
    }
}
