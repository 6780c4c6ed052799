package io.caravan.bench.engine;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.Shards;
import io.caravan.bench.WorkDirectories;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Course;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.FsyncProbe;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code scripts/bench shards}: measures the speedup from shards, each with its own log, on this machine's disk. */
@Command(
        name = "shards",
        mixinStandardHelpOptions = true,
        description = {
            "Measures 64 writers that wait for each append on a store with 1, 2, and 4 shards. For comparison, 1, 2,"
                    + " and 4 threads each write and fsync blocks in a file of their own, without a store.",
            "Shards are faster if the disk fsyncs several files concurrently faster than one after another, and if the"
                    + " processor has enough cores."
        })
public final class ShardsCommand implements Callable<Integer> {
    @Mixin
    private Course course = new Course();

    @Option(names = "--seed", paramLabel = "S", description = "seed of the values; default ${DEFAULT-VALUE}")
    private long seed = 1;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Workload workload = Workload.small(seed);
        Stores stores = new Stores(course.quick());
        course.run(List.of(
                course.quick()
                        ? new ShardedWriters(stores, workload, 20, 20)
                        : new ShardedWriters(stores, workload, 1_000, 1_500)));
        return 0;
    }

    /**
     * Measures writers that each wait for an acknowledgment, on stores with several shards. For comparison, also
     * measures plain fsyncs of the same number of files.
     */
    private static final class ShardedWriters implements Measure {
        private static final int WRITERS = 64;
        private static final List<Integer> SHARDS = List.of(1, 2, 4);
        private static final String NAME = WRITERS + " writers that wait for each, by shards";
        private static final Figure FSYNCS_PER_SECOND = new Figure("fsyncs/s", "%,.0f");

        private final Stores stores;
        private final Workload workload;
        private final int millis;
        private final int fsyncs;
        private final Results results = new Results();

        /**
         * Creates this part of the benchmark.
         *
         * @param millis time for each store
         * @param fsyncs number of fsyncs of each file
         */
        ShardedWriters(Stores stores, Workload workload, int millis, int fsyncs) {
            this.stores = stores;
            this.workload = workload;
            this.millis = millis;
            this.fsyncs = fsyncs;
        }

        @Override
        public void run(Turn turn) throws IOException, InterruptedException {
            List<Contestant> all = new ArrayList<>();
            for (int shards : SHARDS) {
                all.add(new Contestant(
                        system(Contestant.CARAVAN, shards),
                        Durability.SYNC.name(),
                        directory -> append(directory, shards)));
                all.add(new Contestant(
                        system(Charts.MACHINE, shards), "fsynced", directory -> fsync(directory, shards)));
            }
            if (turn.number() == 1 && !stores.quick()) {
                Contest.warmUp(turn, all);
            }
            new Contest(NAME, results).run(turn, all);
        }

        private static String system(String name, int shards) {
            return name + ", " + shards + (name.equals(Charts.MACHINE) ? " file" : " shard") + (shards == 1 ? "" : "s");
        }

        private Measurement append(Path directory, int shards) throws IOException, InterruptedException {
            try (Shards opened =
                    Shards.open(stores.config(directory, Durability.SYNC).build(), shards)) {
                ListStore store = opened.store();
                long before = store.stats().fsyncs();
                long start = System.nanoTime();
                Measurement appends = new WaitingAppends(WRITERS, millis)
                        .run(i ->
                                store.append(workload.id(i), workload.value(i)).get());
                double seconds = (System.nanoTime() - start) / 1e9;
                return appends.with(FSYNCS_PER_SECOND, (store.stats().fsyncs() - before) / seconds);
            }
        }

        /** Fsyncs all files concurrently, each on its own thread. */
        private Measurement fsync(Path directory, int files) throws IOException, InterruptedException {
            WorkDirectories.create(directory);
            ExecutorService threads = Executors.newFixedThreadPool(files);
            try {
                List<Future<Measurement>> running = new ArrayList<>();
                for (int file = 0; file < files; file++) {
                    Path place = Files.createDirectory(directory.resolve("file-" + file));
                    running.add(threads.submit(() -> FsyncProbe.run(place, fsyncs)));
                }
                double together = 0;
                double slowest = 0;
                for (Future<Measurement> each : running) {
                    Measurement measured = each.get();
                    together += measured.get(Figure.APPENDS_PER_SECOND);
                    slowest = Math.max(slowest, measured.get(Figure.P50_MICROS));
                }
                return new Measurement().with(FSYNCS_PER_SECOND, together).with(Figure.P50_MICROS, slowest);
            } catch (ExecutionException failed) {
                throw new IOException("cannot fsync a file in " + directory, failed.getCause());
            } finally {
                threads.shutdownNow();
            }
        }

        @Override
        public Table table() {
            return new Table(
                    NAME,
                    "The rows of the machine are threads that each write and fsync blocks of 4 KiB in a file of their"
                            + " own: the sum of all threads, and the median of the slowest thread.",
                    results);
        }

        @Override
        public List<Picture> pictures() {
            String title = WRITERS + " writers that each wait, by shards of the store";
            Bars bars =
                    new Bars(title, "per second").group("fsyncs, all files together", results, NAME, FSYNCS_PER_SECOND);
            for (int shards : SHARDS) {
                bars.system(
                        system(Contestant.CARAVAN, shards), system(Contestant.CARAVAN, shards), Durability.SYNC.name());
            }
            for (int shards : SHARDS) {
                bars.system(system(Charts.MACHINE, shards), system(Charts.MACHINE, shards), "fsynced");
            }
            return List.of(new Picture(
                    "shards",
                    title,
                    "Fsyncs of the logs of all shards, compared with fsyncs of as many files without a store.",
                    bars.chart()));
        }
    }
}
