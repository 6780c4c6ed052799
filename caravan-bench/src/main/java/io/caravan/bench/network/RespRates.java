package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.List;

/** Measures the requests per second over RESP and the server's processor time, at several pipelining depths. */
final class RespRates implements Measure {
    private static final String WORKLOAD = "RPUSH";
    private static final List<Subject> SUBJECTS = List.of(Caravan.asDelivered(), Redis.forced(), Redis.inMemory());
    private static final int[] DEPTHS = {1, 16, 64};
    /** Number of requests at each depth, which take a few seconds. */
    private static final int[] COUNTS = {120_000, 800_000, 1_600_000};

    private static final int WARM_UP_DEPTH = 16;
    private static final int WARM_UP_COUNT = 400_000;
    private static final int QUICK_DIVISOR = 100;

    private final Results results = new Results();
    private final boolean alone;
    private final int divisor;

    RespRates(boolean quick, boolean alone) {
        this.alone = alone;
        divisor = quick ? QUICK_DIVISOR : 1;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        String missing = RedisBenchmark.missing();
        if (missing != null) {
            results.absent(WORKLOAD, Caravan.NAME, missing);
            return;
        }
        RedisBenchmark benchmark = new RedisBenchmark(turn.work());
        Comparison comparison = new Comparison(results);
        for (Subject subject : turn.inTurn(SUBJECTS)) {
            RunningServer.with(turn, alone, subject, WORKLOAD, results, server -> {
                benchmark.run(server.resp(), WARM_UP_DEPTH, WARM_UP_COUNT / divisor);
                for (int i = 0; i < DEPTHS.length; i++) {
                    String workload = WORKLOAD + ", -P " + DEPTHS[i];
                    turn.say(workload + ", " + subject.name());
                    Measurement measurement = measure(benchmark, server, DEPTHS[i], COUNTS[i] / divisor);
                    comparison.add(workload, subject, measurement);
                }
            });
        }
    }

    /** Measures one server under load. */
    static Measurement measure(RedisBenchmark benchmark, RunningServer server, int depth, int count)
            throws IOException {
        long cpuNanos = server.cpuTime().toNanos();
        RedisBenchmark.Outcome outcome = benchmark.run(server.resp(), depth, count);
        CpuTimes used = new CpuTimes(
                server.cpuTime().toNanos() - cpuNanos, outcome.cpuTime().toNanos());
        Measurement measurement = new Measurement().with(Figure.REQUESTS_PER_SECOND, outcome.requestsPerSecond());
        used.addTo(measurement, count);
        return measurement;
    }

    @Override
    public Table table() {
        return new Table(
                "Appends over RESP",
                "`" + RedisBenchmark.COMMAND_LINE + "`, each server fresh and warmed up by "
                        + WARM_UP_COUNT / divisor + " requests; at high depths, the single-threaded program itself"
                        + " is the limit.",
                results);
    }
}
