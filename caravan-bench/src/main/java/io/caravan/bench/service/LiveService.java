package io.caravan.bench.service;

import io.caravan.bench.load.OpenLoop;
import io.caravan.bench.load.OpenLoop.Outcome;
import io.caravan.bench.load.OpenLoop.Plan;
import io.caravan.bench.load.Timeline;
import io.caravan.bench.load.Timeline.Second;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.FsyncProbe;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Picture;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import io.caravan.bench.server.MeasuredServer;
import io.caravan.bench.server.RunningServer;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/** Measures each server that supports a protocol, under a load at a fixed rate, from the moment the server is ready. */
final class LiveService implements Measure {
    /** The second of a run by which the JVM has compiled the hot code. */
    private static final int WARM_FROM = 5;

    private static final double MICROS_PER_MILLI = 1e3;
    private static final double NANOS_PER_MICRO = 1e3;

    private final Front front;
    private final boolean alone;
    private final int fsyncs;
    private final Results results = new Results();
    private final LoadRuns runs = new LoadRuns();
    private final String workload;
    private final Row fsync = new Row("write and fsync of 4 KiB", Charts.MACHINE, "fsynced");
    private final Row echo;

    /**
     * Creates this part of the benchmark.
     *
     * @param alone whether Caravan is measured without its peers
     */
    LiveService(Front front, boolean alone, boolean quick) {
        this.front = front;
        this.alone = alone;
        fsyncs = quick ? 50 : 2_000;
        workload = String.format(
                Locale.ROOT, "%s, %,d per second", front.request(), front.plan().rate());
        echo = new Row(workload + " to an echo in the client", Charts.MACHINE, "nothing is stored");
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        measureMachine(turn);
        for (MeasuredServer subject : turn.inTurn(front.subjects())) {
            RunningServer.with(turn, alone, subject, whole(), results, server -> measure(turn, subject, server));
        }
    }

    private void measureMachine(Turn turn) throws IOException {
        turn.say(workload + ", warming up the client");
        List<Second> seconds =
                OpenLoop.warmUp(front.plan(), front.protocol()).timeline().seconds();
        results.add(echo, ServiceQuantities.of(seconds.get(seconds.size() - 1)));
        turn.say("fsyncs by hand");
        double micros = FsyncProbe.run(turn.work(), fsyncs).get(Figure.P50_MICROS);
        results.add(fsync, new Measurement().with(Figure.P50_MILLIS, micros / MICROS_PER_MILLI));
    }

    private void measure(Turn turn, MeasuredServer subject, RunningServer server)
            throws IOException, InterruptedException {
        front.prepare(server);
        long cpuNanos = server.cpuTime().toNanos();
        Outcome outcome = new OpenLoop(front.plan(), front.protocol(), front.address(server)).run();
        double cpuMicros = (server.cpuTime().toNanos() - cpuNanos) / NANOS_PER_MICRO;
        if (outcome.clientTooSlow()) {
            turn.say("the client could not keep up: the times are not those of " + subject.name());
        }
        runs.add(subject, outcome);
        results.add(
                whole(),
                subject.name(),
                subject.durability(),
                ServiceQuantities.from(0, outcome)
                        .with(Figure.SERVER_CPU_MICROS, cpuMicros / front.plan().requests())
                        .with(ServiceQuantities.START_MILLIS, server.startTime().toMillis()));
        if (front.plan().seconds() > WARM_FROM) {
            results.add(
                    workload + ", after " + WARM_FROM + " s",
                    subject.name(),
                    subject.durability(),
                    ServiceQuantities.from(WARM_FROM, outcome));
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
                        "%,d appends per second of %d bytes to %,d documents, over %d connections for %d s, from the"
                                + " first moment of a fresh server. Each is sent when it is due, whether or not"
                                + " earlier ones have a reply, and its time counts from then. An error is a"
                                + " failure, and so is an append without a reply 30 s after the last one. The"
                                + " client is one thread that keeps a core busy. It has been warmed up on an echo"
                                + " server within its process; the echo's last second is in the table and shows the"
                                + " cost of the client and the machine alone. The client's own delay is included in"
                                + " the times and shown next to them; beyond 5 ms at p99.9 the times are not those of"
                                + " the server. %s",
                        plan.rate(),
                        plan.valueBytes(),
                        plan.documents(),
                        plan.connections(),
                        plan.seconds(),
                        front.note()),
                results);
    }

    /** Returns a measure whose table lists every second of each server's median run. */
    Measure eachSecond() {
        return new Measure() {
            @Override
            public void run(Turn turn) {
                // The enclosing part has already measured everything.
            }

            @Override
            public Table table() {
                return secondsTable();
            }
        };
    }

    private Table secondsTable() {
        Results each = new Results();
        for (MeasuredServer subject : runs.subjects()) {
            Timeline timeline = runs.median(subject).timeline();
            for (int i = 0; i < timeline.seconds().size(); i++) {
                add(each, subject, "second " + (i + 1), timeline.seconds().get(i));
            }
            if (timeline.afterEnd().acks() + timeline.afterEnd().failures() > 0) {
                add(each, subject, "after the last", timeline.afterEnd());
            }
        }
        return new Table(
                front.name() + ": each second of the median run",
                "For each server, the rows show the run with the median p98. Each request is counted in the second in"
                        + " which it was sent, and each acknowledgment in the second in which it was received. The"
                        + " latencies are those of all appends that were due in that second.",
                each);
    }

    private void add(Results each, MeasuredServer subject, String when, Second second) {
        each.add(front.request() + ", " + when, subject.name(), subject.durability(), ServiceQuantities.of(second));
    }

    @Override
    public List<Picture> pictures() {
        if (runs.subjects().isEmpty()) {
            return List.of();
        }
        return new ServicePictures(front, runs)
                .all(results.median(fsync, Figure.P50_MILLIS), results.median(echo, Figure.P50_MILLIS));
    }

    /** The measured quantities of a load, or of one second of a load. */
    private static final class ServiceQuantities {
        static final Figure SENT = new Figure("sent", "%,.0f");
        static final Figure ACKS = new Figure("acks", "%,.0f");
        static final Figure FAILURES = new Figure("failures", "%,.0f");
        static final Figure START_MILLIS = new Figure("from start to ready, ms", "%,.0f");
        static final Figure P5_MILLIS = new Figure("p5, ms", "%,.2f");

        private static final double MICROS_PER_MILLI = 1e3;

        private ServiceQuantities() {}

        /** Returns the quantities from this second (counted from 0) on, including replies after the last second. */
        static Measurement from(int second, Outcome outcome) {
            List<Second> all = outcome.timeline().seconds();
            List<Second> seconds = Stream.concat(
                            all.subList(second, all.size()).stream(),
                            Stream.of(outcome.timeline().afterEnd()))
                    .toList();
            return of(seconds, outcome.timeline().waitsFrom(second))
                    .with(Figure.CLIENT_LATE_P999_MILLIS, outcome.late().getValueAtPercentile(99.9) / MICROS_PER_MILLI)
                    .with(Figure.CLIENT_LATE_MAX_MILLIS, outcome.late().getMaxValue() / MICROS_PER_MILLI);
        }

        /** Returns the quantities of one second. */
        static Measurement of(Second second) {
            return of(List.of(second), second.waits());
        }

        private static Measurement of(List<Second> seconds, Histogram micros) {
            Measurement measurement = new Measurement()
                    .with(SENT, seconds.stream().mapToLong(Second::sentCount).sum())
                    .with(ACKS, seconds.stream().mapToLong(Second::acks).sum())
                    .with(FAILURES, seconds.stream().mapToLong(Second::failures).sum());
            if (micros.getTotalCount() > 0) {
                measurement
                        .with(P5_MILLIS, micros.getValueAtPercentile(5) / MICROS_PER_MILLI)
                        .with(Figure.P50_MILLIS, micros.getValueAtPercentile(50) / MICROS_PER_MILLI)
                        .with(Figure.P98_MILLIS, micros.getValueAtPercentile(98) / MICROS_PER_MILLI)
                        .with(Figure.P999_MILLIS, micros.getValueAtPercentile(99.9) / MICROS_PER_MILLI)
                        .with(Figure.MAX_MILLIS, micros.getMaxValue() / MICROS_PER_MILLI);
            }
            return measurement;
        }
    }
}
