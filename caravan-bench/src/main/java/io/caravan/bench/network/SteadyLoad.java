package io.caravan.bench.network;

import io.caravan.bench.load.OpenLoop;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Appends at a fixed rate, from the moment at which a fresh server serves: the client is warm, the server is not. */
final class SteadyLoad implements NetworkMeasure {
    private static final String WORKLOAD = "RPUSH, fixed rate";
    private static final long SEED = 1;
    private static final double MICROS_PER_MILLI = 1e3;

    private final Results results = new Results();
    private final OpenLoop.Plan plan;

    SteadyLoad(boolean quick) {
        plan = quick
                ? new OpenLoop.Plan(1_000, 5, 1, 1_000, 200, SEED)
                : new OpenLoop.Plan(16_000, 50, 10, 10_000, 200, SEED);
    }

    @Override
    public void run(Stage stage) throws IOException, InterruptedException {
        Comparison comparison = Comparison.ofTimes(results, Figure.P50_MILLIS);
        OpenLoop.warmUp(plan);
        for (Subject subject : stage.inTurn(List.of(Caravan.asDelivered(), Redis.forced()))) {
            stage.with(subject, WORKLOAD, results, server -> {
                OpenLoop.Outcome outcome = new OpenLoop(plan, server.resp()).run();
                long errors = outcome.errors() + outcome.unanswered();
                if (outcome.clientTooSlow()) {
                    stage.say("the client could not keep up: its times say little of " + subject.name());
                }
                comparison.add(
                        WORKLOAD,
                        subject,
                        measurement(outcome.all())
                                .with(
                                        Figure.CLIENT_LATE_P999_MILLIS,
                                        outcome.late().getValueAtPercentile(99.9) / MICROS_PER_MILLI)
                                .with(
                                        Figure.CLIENT_LATE_MAX_MILLIS,
                                        outcome.late().getMaxValue() / MICROS_PER_MILLI)
                                .with(Figure.ERRORS, errors));
                comparison.add(WORKLOAD + ", the first second of it", subject, measurement(outcome.first()));
            });
        }
    }

    private static Measurement measurement(Histogram micros) {
        return new Measurement().latencies(micros, TimeUnit.MICROSECONDS);
    }

    @Override
    public Table table() {
        return new Table(
                "A fixed rate from the first moment",
                plan.rate() + " appends a second of " + plan.valueBytes() + " bytes to " + plan.documents()
                        + " documents, over " + plan.connections() + " connections for " + plan.seconds()
                        + " s, sent when they are due whether those before are answered or not, to a server just"
                        + " started; times count from when an append was due. An append without an answer is an error."
                        + " The client, which is that of `scripts/bench load`, keeps one core busy; it has been warmed"
                        + " up on a server within itself that does nothing. What it sent late is in the times, and"
                        + " told: beyond 5 ms at p99.9 they say little of the server.",
                results);
    }
}
