package io.caravan.bench.engine;

import io.caravan.bench.report.Course;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/bench engine}: compares the embedded store with other stores and with plain I/O. */
@Command(
        name = "engine",
        mixinStandardHelpOptions = true,
        description = {
            "Compares embedded Caravan at each durability level with Chronicle Queue, RocksDB, LMDB, and SQLite,"
                    + " and with a program that writes and fsyncs the same bytes without a store.",
            "",
            "Values of 64 to 318 bytes to 10,000 documents: 100,000 and 2,000,000 appends by one producer that does"
                    + " not wait; one writer and 64 writers that wait for each append; whole lists read back. Then"
                    + " values of 4 to 256 KiB. The systems take turns, several times; the results are medians, with"
                    + " minimum and maximum.",
            "",
            "Each row states its durability: compare only rows with the same guarantee. Needs about five minutes and"
                    + " up to 6 GiB of disk space."
        })
public final class EngineCommand implements Callable<Integer> {
    private static final int MANY_WRITERS = 64;

    @Mixin
    private Course course = new Course();

    @Option(names = "--seed", paramLabel = "S", description = "seed of the values; default ${DEFAULT-VALUE}")
    private long seed = 1;

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean quick = course.quick();
        Stores stores = new Stores(quick);
        Workload workload = Workload.small(seed);
        int millis = quick ? 20 : 400;
        int fsyncs = quick ? 20 : 1_500;
        StreamedAppends few = StreamedAppends.few(stores, workload, quick ? 2_000 : 100_000, quick ? 200 : 4_000);
        course.run(List.of(
                few,
                StreamedAppends.many(stores, workload, quick ? 4_000 : 2_000_000, quick ? 200 : 2_000, few),
                new WaitingWriters(stores, workload, 1, millis, fsyncs),
                new WaitingWriters(stores, workload, MANY_WRITERS, millis, fsyncs),
                new ListReads(
                        stores,
                        workload,
                        quick ? 100 : Workload.IDS,
                        quick ? 20 : 200,
                        TimeUnit.MILLISECONDS.toNanos(quick ? 50 : 400)),
                new LargeValues(stores, seed, quick ? 1 << 20 : 128 << 20)));
        return 0;
    }
}
