package io.caravan.bench.engine;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.Measure;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/bench engine}: measures the embedded store, compared with other stores and with plain I/O. */
@Command(
        name = "engine",
        mixinStandardHelpOptions = true,
        description = {
            "Embedded Caravan at each durability level, beside Chronicle Queue, RocksDB, LMDB, SQLite, H2's MVStore"
                    + " and Xodus, and beside the same bytes written and forced by hand.",
            "",
            "Values of 64 to 318 bytes to 10,000 documents: 100,000 and 2,000,000 appends by one producer that does"
                    + " not wait; one writer and 64 writers that wait for each append; whole lists read back. Then"
                    + " values of 4 to 256 KiB. The systems take turns, several times; figures are medians, with"
                    + " minimum and maximum.",
            "",
            "Each row states its durability: compare only rows with the same guarantee. Takes about five minutes and"
                    + " up to 6 GiB of disk."
        })
public final class EngineCommand implements Callable<Integer> {
    private static final int MANY_WRITERS = 64;

    @Mixin
    private Course course = new Course();

    @Option(names = "--seed", paramLabel = "S", description = "seed of the values; default ${DEFAULT-VALUE}")
    private long seed = 1;

    @Override
    public Integer call() throws IOException, InterruptedException {
        course.run(course.quick() ? quick() : full());
        return 0;
    }

    private List<Measure> full() {
        Stores stores = new Stores(false);
        Workload workload = Workload.small(seed);
        StreamedAppends few = StreamedAppends.few(stores, workload, 100_000, 4_000);
        return List.of(
                few,
                StreamedAppends.many(stores, workload, 2_000_000, 2_000, few),
                new WaitingWriters(stores, workload, 1, 400, 1_500),
                new WaitingWriters(stores, workload, MANY_WRITERS, 400, 1_500),
                new ListReads(stores, workload, Workload.IDS, 200, TimeUnit.MILLISECONDS.toNanos(400)),
                new LargeValues(stores, seed, 128 << 20));
    }

    private List<Measure> quick() {
        Stores stores = new Stores(true);
        Workload workload = Workload.small(seed);
        StreamedAppends few = StreamedAppends.few(stores, workload, 2_000, 200);
        return List.of(
                few,
                StreamedAppends.many(stores, workload, 4_000, 200, few),
                new WaitingWriters(stores, workload, 1, 20, 20),
                new WaitingWriters(stores, workload, MANY_WRITERS, 20, 20),
                new ListReads(stores, workload, 100, 20, TimeUnit.MILLISECONDS.toNanos(50)),
                new LargeValues(stores, seed, 1 << 20));
    }
}
