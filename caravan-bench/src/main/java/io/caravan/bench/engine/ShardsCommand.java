package io.caravan.bench.engine;

import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.Shards;
import io.caravan.bench.Directories;
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

/** {@code scripts/bench groups}: measures the gain of several shards, each with its own log, on this machine's disk. */
@Command(
        name = "groups",
        mixinStandardHelpOptions = true,
        description = {
            "64 writers that wait for each append, to a store of 1, 2 and 4 groups, beside what the disk does by hand:"
                    + " 1, 2 and 4 threads that each write and force a block after the other in a file of their own.",
            "Groups gain something where the disk forces several files at the same time faster than one after the other,"
                    + " and the processor has cores for it."
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
     * Measures writers that each wait for an acknowledgement, on stores with several shards. For comparison, also measures
     * plain fsyncs of as many files.
     */
    private static final class ShardedWriters implements Measure {
        private static final int WRITERS = 64;
        private static final List<Integer> GROUPS = List.of(1, 2, 4);
        private static final String NAME = WRITERS + " writers that wait for each, by groups";
        private static final Figure FORCES_PER_SECOND = new Figure("forces/s", "%,.0f");

        private final Stores stores;
        private final Workload workload;
        private final int millis;
        private final int forces;
        private final Results results = new Results();

        /**
         * Creates the part.
         *
         * @param millis time for each store
         * @param forces number of fsyncs of each file
         */
        ShardedWriters(Stores stores, Workload workload, int millis, int forces) {
            this.stores = stores;
            this.workload = workload;
            this.millis = millis;
            this.forces = forces;
        }

        @Override
        public void run(Turn turn) throws IOException, InterruptedException {
            List<Contestant> all = new ArrayList<>();
            for (int groups : GROUPS) {
                all.add(new Contestant(
                        system(Contestant.CARAVAN, groups),
                        Durability.SYNC.name(),
                        directory -> append(directory, groups)));
                all.add(new Contestant(
                        system(Charts.MACHINE, groups), "forced", directory -> force(directory, groups)));
            }
            if (turn.number() == 1 && !stores.quick()) {
                Contest.warmUp(turn, all);
            }
            new Contest(NAME, results).run(turn, all);
        }

        private static String system(String name, int groups) {
            return name + ", " + groups + (name.equals(Charts.MACHINE) ? " file" : " group") + (groups == 1 ? "" : "s");
        }

        private Measurement append(Path directory, int groups) throws IOException, InterruptedException {
            try (Shards opened =
                    Shards.open(stores.config(directory, Durability.SYNC).build(), groups)) {
                ListStore store = opened.store();
                long before = store.stats().fsyncs();
                long start = System.nanoTime();
                Measurement appends = new WaitingAppends(WRITERS, millis)
                        .run(i ->
                                store.append(workload.id(i), workload.value(i)).get());
                double seconds = (System.nanoTime() - start) / 1e9;
                return appends.with(FORCES_PER_SECOND, (store.stats().fsyncs() - before) / seconds);
            }
        }

        /** Fsyncs all files concurrently, each on its own thread. */
        private Measurement force(Path directory, int files) throws IOException, InterruptedException {
            Directories.create(directory);
            ExecutorService threads = Executors.newFixedThreadPool(files);
            try {
                List<Future<Measurement>> running = new ArrayList<>();
                for (int file = 0; file < files; file++) {
                    Path folder = Files.createDirectory(directory.resolve("file-" + file));
                    running.add(threads.submit(() -> FsyncProbe.run(folder, forces)));
                }
                double together = 0;
                double slowest = 0;
                for (Future<Measurement> each : running) {
                    Measurement measured = each.get();
                    together += measured.get(Figure.APPENDS_PER_SECOND);
                    slowest = Math.max(slowest, measured.get(Figure.P50_MICROS));
                }
                return new Measurement().with(FORCES_PER_SECOND, together).with(Figure.P50_MICROS, slowest);
            } catch (ExecutionException failed) {
                throw new IOException("a file could not be forced", failed.getCause());
            } finally {
                threads.shutdownNow();
            }
        }

        @Override
        public Table table() {
            return new Table(
                    NAME,
                    "The machine's rows are threads that each write and force a block of 4 KiB after the other in a file of"
                            + " their own, together; their median is the slowest thread's.",
                    results);
        }

        @Override
        public List<Picture> pictures() {
            String title = WRITERS + " writers that each wait, by groups of the store";
            Bars bars =
                    new Bars(title, "a second").group("forces, all files together", results, NAME, FORCES_PER_SECOND);
            for (int groups : GROUPS) {
                bars.system(
                        system(Contestant.CARAVAN, groups), system(Contestant.CARAVAN, groups), Durability.SYNC.name());
            }
            for (int groups : GROUPS) {
                bars.system(system(Charts.MACHINE, groups), system(Charts.MACHINE, groups), "forced");
            }
            return List.of(new Picture(
                    "groups",
                    title,
                    "Forces that the stores' logs made, beside those that the disk does for as many threads.",
                    bars.chart()));
        }
    }
}
