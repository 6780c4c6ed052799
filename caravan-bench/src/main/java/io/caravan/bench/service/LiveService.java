package io.caravan.bench.service;

import io.caravan.bench.load.OpenLoop;
import io.caravan.bench.load.OpenLoop.Outcome;
import io.caravan.bench.load.OpenLoop.Plan;
import io.caravan.bench.load.Second;
import io.caravan.bench.network.RunningServer;
import io.caravan.bench.network.Subject;
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
import java.util.List;
import java.util.Locale;

/** Measures a load at a fixed rate on each server of a protocol, from the moment at which the server is ready. */
final class LiveService implements Measure {
    /** The second by which the JVM has compiled the hot code. */
    private static final int WARM_FROM = 5;

    private static final double MICROS_PER_MILLI = 1e3;
    private static final double NANOS_PER_MICRO = 1e3;

    private final Front front;
    private final boolean alone;
    private final int forces;
    private final Results results = new Results();
    private final LoadRuns runs = new LoadRuns();
    private final String workload;
    private final Row force = new Row("write and force of 4 KiB", Charts.MACHINE, "forced");
    private final Row echo;

    /**
     * Creates the part.
     *
     * @param alone whether Caravan is measured without its peers
     */
    LiveService(Front front, boolean alone, boolean quick) {
        this.front = front;
        this.alone = alone;
        forces = quick ? 50 : 2_000;
        workload = String.format(
                Locale.ROOT, "%s, %,d a second", front.request(), front.plan().rate());
        echo = new Row(workload + " to an echo in the client", Charts.MACHINE, "nothing is kept");
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        measureMachine(turn);
        for (Subject subject : turn.inTurn(front.subjects())) {
            RunningServer.with(turn, alone, subject, whole(), results, server -> measure(turn, subject, server));
        }
    }

    private void measureMachine(Turn turn) throws IOException {
        turn.say(workload + ", warming up the client");
        List<Second> seconds =
                OpenLoop.warmUp(front.plan(), front.protocol()).timeline().seconds();
        results.add(echo, ServiceFigures.of(seconds.get(seconds.size() - 1)));
        turn.say("forces by hand");
        try (ForceProbe probe = new ForceProbe(turn.work(), ForceProbe.SMALL_BLOCK_BYTES, forces)) {
            double micros = probe.run().get(Figure.P50_MICROS);
            results.add(force, new Measurement().with(Figure.P50_MILLIS, micros / MICROS_PER_MILLI));
        }
    }

    private void measure(Turn turn, Subject subject, RunningServer server) throws IOException, InterruptedException {
        front.prepare(server);
        long cpuNanos = server.cpuTime().toNanos();
        Outcome outcome = new OpenLoop(front.plan(), front.protocol(), front.address(server)).run();
        double cpuMicros = (server.cpuTime().toNanos() - cpuNanos) / NANOS_PER_MICRO;
        if (outcome.clientTooSlow()) {
            turn.say("the client could not keep up: its times say little about " + subject.name());
        }
        runs.add(subject, outcome);
        results.add(
                new Row(whole(), subject.name(), subject.durability()),
                ServiceFigures.from(0, outcome)
                        .with(Figure.SERVER_CPU_MICROS, cpuMicros / front.plan().requests())
                        .with(ServiceFigures.START_MILLIS, server.startTime().toMillis()));
        if (front.plan().seconds() > WARM_FROM) {
            results.add(
                    new Row(workload + ", after " + WARM_FROM + " s", subject.name(), subject.durability()),
                    ServiceFigures.from(WARM_FROM, outcome));
        }
    }

    private String whole() {
        return workload + ", whole run";
    }

    @Override
    public Table table() {
        Plan plan = front.plan();
        return new Table(
                front.name() + ": a live service",
                String.format(
                        Locale.ROOT,
                        "%,d appends a second of %d bytes to %,d documents, over %d connections for %d s, from the"
                                + " first moment of a fresh server. Each is sent when it is due, whether or not"
                                + " earlier ones are answered, and its time counts from then. An error answer is a"
                                + " failure, and so is an append without an answer 30 s after the last one. The"
                                + " client is one thread that keeps a core busy. It has been warmed up on an echo"
                                + " server within its process; the echo's last second is in the table and shows the"
                                + " cost of the client and the machine alone. The client's own delay is included in"
                                + " the times and shown beside them; beyond 5 ms at p99.9 the times say little about"
                                + " the server. %s",
                        plan.rate(),
                        plan.valueBytes(),
                        plan.documents(),
                        plan.connections(),
                        plan.seconds(),
                        front.note()),
                results);
    }

    /** Returns a table of every second of these measurements, for the report. */
    Measure eachSecond() {
        return new EachSecond(front, runs);
    }

    @Override
    public List<Picture> pictures() {
        if (runs.subjects().isEmpty()) {
            return List.of();
        }
        return new ServicePictures(front, runs)
                .all(results.median(force, Figure.P50_MILLIS), results.median(echo, Figure.P50_MILLIS));
    }
}
