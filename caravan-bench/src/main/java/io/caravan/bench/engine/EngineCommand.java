package io.caravan.bench.engine;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.bench.Directories;
import io.caravan.bench.Machine;
import io.caravan.bench.WorkDirectory;
import io.caravan.bench.report.ForceProbe;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Report;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code scripts/bench engine}: durable appends beside the same bytes written and forced by hand. */
@Command(
        name = "engine",
        mixinStandardHelpOptions = true,
        description = {
            "Durable appends of 64 to 318 bytes to 10,000 documents: one producer with acknowledgements to come, one"
                    + " writer that waits for each, 64 that do.",
            "Beside them stand the same bytes written and forced by hand at the same batch sizes, and the time of one"
                    + " force. All are run in turn, several times; figures are medians."
        })
public final class EngineCommand implements Callable<Integer> {
    private static final String CARAVAN = "Caravan";
    private static final String BY_HAND = "by hand";
    private static final int MANY_WRITERS = 64;

    @Option(names = "--quick", description = "tiny counts and one run: shows that it works, says nothing of speed")
    private boolean quick;

    @Option(names = "--runs", paramLabel = "N", description = "times that each is run; default 5, with --quick 1")
    private int runs;

    @Option(names = "--out", paramLabel = "DIR", description = "where engine.md and engine.json go; default: nowhere")
    private @Nullable Path out;

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description =
                    "on the disk to measure: missing or empty; default: a temporary directory; emptied afterwards")
    private @Nullable Path directory;

    @Option(
            names = "--durability",
            paramLabel = "LEVEL",
            description = "${COMPLETION-CANDIDATES}; default ${DEFAULT-VALUE}. By hand it is always forced")
    private Durability durability = Durability.SYNC;

    @Option(names = "--seed", paramLabel = "S", description = "seed of the values; default ${DEFAULT-VALUE}")
    private long seed = 1;

    @Spec
    private @Nullable CommandSpec spec;

    private final Results results = new Results();

    @Override
    public Integer call() throws IOException, InterruptedException, ExecutionException {
        check(directory == null || Directories.missingOrEmpty(directory), "--dir must be missing or empty");
        check(runs >= 0, "--runs must be 1 or more");
        try (WorkDirectory made = WorkDirectory.make(directory)) {
            Path work = made.path();
            measure(work);
            Report report = new Report("engine", Machine.facts(work), List.of(new Measure() {
                @Override
                public void run(Turn turn) {}

                @Override
                public Table table() {
                    return new Table("", "", results);
                }
            }));
            System.out.println(report);
            if (out != null) {
                report.writeTo(out);
                System.out.println("written to " + out);
            }
        }
        return 0;
    }

    private void measure(Path work) throws IOException, InterruptedException, ExecutionException {
        Workload workload = new Workload(seed);
        int few = quick ? 2_000 : 100_000;
        int many = quick ? 5_000 : 2_000_000;
        int waitingMillis = quick ? 100 : 2_000;
        say("warming up");
        withStore(work, store -> new AsyncAppends(workload, few).run(store));
        int times = runs > 0 ? runs : quick ? 1 : 5;
        for (int run = 1; run <= times; run++) {
            String progress = "run " + run + " of " + times + ": ";
            say(progress + "force of 4 KiB");
            force(work, quick ? 50 : 2_000);
            say(progress + few + " appends");
            appends(work, workload, few);
            say(progress + many + " appends");
            appends(work, workload, many);
            say(progress + "writers that wait");
            waiting(work, workload, 1, waitingMillis, "one writer that waits for each");
            waiting(work, workload, MANY_WRITERS, waitingMillis, MANY_WRITERS + " writers that wait for each");
        }
    }

    private void force(Path work, int count) throws IOException {
        try (ForceProbe probe = new ForceProbe(work, ForceProbe.SMALL_BLOCK_BYTES, count)) {
            results.add(new Row("write and force of 4 KiB, allocated file", BY_HAND, "forced"), probe.run());
        }
    }

    private void appends(Path work, Workload workload, int count)
            throws IOException, InterruptedException, ExecutionException {
        String name = String.format(Locale.ROOT, "%,d appends, one producer", count);
        AsyncAppends.Outcome outcome = withStore(work, store -> new AsyncAppends(workload, count).run(store));
        results.add(new Row(name, CARAVAN, durability.name()), outcome.measurement());
        try (ByHand byHand = new ByHand(workload, count, work)) {
            results.add(new Row(name, BY_HAND, "forced"), byHand.run(outcome.batches()));
        }
    }

    private void waiting(Path work, Workload workload, int writers, int millis, String name)
            throws IOException, InterruptedException, ExecutionException {
        Measurement measurement = withStore(work, store -> new WaitingAppends(workload, writers, millis).run(store));
        results.add(new Row(name, CARAVAN, durability.name()), measurement);
    }

    /** Runs on a fresh store, and leaves nothing of it. */
    private <T> T withStore(Path work, StoreTask<T> task) throws IOException, InterruptedException, ExecutionException {
        Path path = work.resolve("store");
        StoreConfig config = StoreConfig.builder(path).durability(durability).build();
        try (ListStore store = DurableListStore.open(config)) {
            return task.run(store);
        } finally {
            Directories.delete(path);
        }
    }

    private interface StoreTask<T> {
        T run(ListStore store) throws InterruptedException, ExecutionException;
    }

    private static void say(String progress) {
        System.err.println(progress);
    }

    private void check(boolean holds, String message) {
        if (!holds && spec != null) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
