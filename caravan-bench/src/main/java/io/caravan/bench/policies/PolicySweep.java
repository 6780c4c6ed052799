package io.caravan.bench.policies;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.WriteCallback;
import io.caravan.bench.Directories;
import io.caravan.bench.engine.WaitingAppends;
import io.caravan.bench.engine.Workload;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.ForceProbe;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Runs one store for each policy, one after another, at all rates and with many writers that wait. */
final class PolicySweep implements Measure {
    static final List<Integer> RATES = List.of(100, 1_000, 10_000, 100_000, 1_000_000);
    static final String WAITING = "64 writers that wait for each";
    static final Figure FORCES_PER_SECOND = new Figure("forces/s", "%,.0f");
    private static final Figure BEST_WAIT_MICROS = new Figure("W*, us", "%,.1f");

    private static final int WRITERS = 64;
    private static final long SEED = 1;
    private static final int WARM_RATE = 100_000;
    private static final int SETTLING_RATE = 1_000;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MICROS_PER_SECOND = 1e6;

    private final Workload workload = Workload.small(SEED);
    private final Results results = new Results();
    private final boolean warms;
    private final long cellMillis;
    private final long waitingMillis;
    private final int probes;

    PolicySweep(boolean quick) {
        warms = !quick;
        cellMillis = quick ? 20 : 600;
        waitingMillis = quick ? 100 : cellMillis;
        probes = quick ? 20 : 500;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        try {
            if (warms && turn.number() == 1) {
                turn.say("warming up");
                warmUp(turn.work());
            }
            turn.say("force of 4 KiB");
            machine(turn.work());
            for (NamedPolicy policy : turn.inTurn(NamedPolicy.ALL)) {
                turn.say(policy.name());
                sweep(turn.work(), policy);
            }
        } catch (ExecutionException failed) {
            throw new IOException("an append failed", failed.getCause());
        }
    }

    /** Warms up once for all policies, because they share all their code except one number. */
    private void warmUp(Path work) throws IOException, InterruptedException, ExecutionException {
        withStore(work, NamedPolicy.ALL.get(0), store -> {
            offered(WARM_RATE, cellMillis).run(store);
            waiting(store);
        });
    }

    /** One force of the smallest unit that a disk writes: the lower bound of a durable append. */
    private void machine(Path work) throws IOException {
        try (ForceProbe probe = new ForceProbe(work, ForceProbe.SMALL_BLOCK_BYTES, probes)) {
            Measurement force = probe.run();
            for (int rate : RATES) {
                results.add(
                        row(workload(rate), Charts.MACHINE),
                        machine(force).with(BEST_WAIT_MICROS, bestWaitMicros(force.get(Figure.P50_MICROS), rate)));
            }
            results.add(row(WAITING, Charts.MACHINE), machine(force));
        }
    }

    private static Measurement machine(Measurement force) {
        return new Measurement()
                .with(Figure.P50_MICROS, force.get(Figure.P50_MICROS))
                .with(Figure.P99_MICROS, force.get(Figure.P99_MICROS))
                .with(FORCES_PER_SECOND, force.get(Figure.APPENDS_PER_SECOND));
    }

    /** The square root of the force time over the arrival rate. */
    static double bestWaitMicros(double forceMicros, double arrivalsPerSecond) {
        return Math.sqrt(forceMicros * MICROS_PER_SECOND / arrivalsPerSecond);
    }

    private void sweep(Path work, NamedPolicy policy) throws IOException, InterruptedException, ExecutionException {
        withStore(work, policy, store -> {
            settle(store);
            for (int rate : RATES) {
                results.add(row(workload(rate), policy.name()), offer(store, rate));
            }
            results.add(row(WAITING, policy.name()), wait(store));
        });
    }

    /** A fresh store keeps the disk busy by preparing the files that it needs next. */
    private void settle(ListStore store) throws InterruptedException, ExecutionException {
        offered(SETTLING_RATE, cellMillis / 2).run(store);
    }

    private OpenLoopAppends offered(int rate, long millis) {
        return new OpenLoopAppends(workload, rate, TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private Measurement offer(ListStore store, int rate) throws InterruptedException, ExecutionException {
        long forces = store.stats().forces();
        AckTimes acks = offered(rate, cellMillis).run(store);
        long forced = forcesUpToNow(store) - forces;
        return new Measurement()
                .appendsPerSecond(acks.count(), acks.tookNanos())
                .latency(acks.nanos().getValueAtPercentile(50), acks.nanos().getValueAtPercentile(99))
                .with(FORCES_PER_SECOND, forced * NANOS_PER_SECOND / acks.tookNanos());
    }

    private Measurement wait(ListStore store) throws IOException, InterruptedException, ExecutionException {
        long forces = store.stats().forces();
        long start = System.nanoTime();
        Measurement measurement = waiting(store);
        double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
        return measurement.with(FORCES_PER_SECOND, (forcesUpToNow(store) - forces) / seconds);
    }

    private Measurement waiting(ListStore store) throws IOException, InterruptedException {
        return new WaitingAppends(workload, WRITERS, waitingMillis).run((id, value) -> {
            CompletableFuture<Long> durable = new CompletableFuture<>();
            store.append(id, value, WriteCallback.completing(durable));
            durable.get();
        });
    }

    /**
     * A force is counted after its appends are acknowledged, so one more append makes sure that the last one is
     * counted.
     */
    private long forcesUpToNow(ListStore store) throws InterruptedException, ExecutionException {
        store.append(workload.id(0), workload.value(0)).get();
        return store.stats().forces();
    }

    /** Runs on a fresh store, which is deleted afterwards. */
    private static void withStore(Path work, NamedPolicy policy, StoreTask task)
            throws IOException, InterruptedException, ExecutionException {
        Path path = work.resolve("store");
        StoreConfig config = StoreConfig.builder(path)
                .durability(Durability.SYNC)
                .flushPolicy(policy.policy())
                .build();
        try (ListStore store = DurableListStore.open(config)) {
            task.run(store);
        } finally {
            Directories.delete(path);
        }
    }

    private interface StoreTask {
        void run(ListStore store) throws IOException, InterruptedException, ExecutionException;
    }

    static String workload(int rate) {
        return String.format(Locale.ROOT, "%,d appends/s offered", rate);
    }

    static Row row(String workload, String system) {
        return new Row(workload, system, system.equals(Charts.MACHINE) ? "forced" : Durability.SYNC.name());
    }

    @Override
    public Table table() {
        return new Table(
                "Flush policies by load",
                "Values of 64 to 318 bytes to 10,000 documents. Offered: one producer, for " + cellMillis
                        + " ms at each rate; each append is sent when it is due, whether or not earlier ones are"
                        + " durable, and times count from then. A store that falls behind is given twice the time,"
                        + " and appends/s shows what it achieved. Producer and flusher both spin shortly before they"
                        + " are due, each on its own core. A policy's store runs at all rates, starting with the"
                        + " lowest. \"" + Charts.MACHINE
                        + "\" writes and forces 4 KiB in an allocated file, by hand: tau. W* is sqrt(tau / lambda),"
                        + " the theoretically best wait at that rate; `adaptive` never waits longer than a force"
                        + " takes.",
                results);
    }

    @Override
    public List<Picture> pictures() {
        return new PolicyPictures(results).all();
    }
}
