package io.caravan.bench.archive;

import io.caravan.bench.WorkDirectories;
import io.caravan.bench.load.ClosedLoop;
import io.caravan.bench.load.RespAppends;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import io.caravan.bench.s3.S3Software;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Measures durable appends per second, with and without archiving. */
final class AppendRates implements Measure {
    private static final int CONNECTIONS = 16;
    private static final int VALUE_BYTES = 200;

    private final Results results = new Results();
    private final ClosedLoop appends;
    private final Duration warmUp;
    private final Duration time;
    private final String often;

    AppendRates(boolean quick) {
        appends = new ClosedLoop(new RespAppends(VALUE_BYTES), CONNECTIONS, 1, quick ? 50 : 2_000);
        warmUp = Duration.ofMillis(quick ? 250 : 5_000);
        time = Duration.ofMillis(quick ? 1_000 : 15_000);
        often = quick ? "1s" : "2s";
    }

    private interface System {
        void run() throws IOException, InterruptedException;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        List<System> systems = List.of(
                () -> alone(turn, "no archive", ArchivingServer::idle),
                () -> alone(
                        turn,
                        "to a directory",
                        work -> ArchivingServer.toDirectory(work, work.resolve("archive"), often)),
                () -> toS3(turn));
        for (System system : turn.inTurn(systems)) {
            system.run();
        }
    }

    private interface Starter {
        ArchivingServer start(Path work) throws IOException;
    }

    private void alone(Turn turn, String what, Starter starter) throws IOException, InterruptedException {
        Path work = Files.createTempDirectory(turn.work(), "appends");
        try {
            measure(turn, what, work, starter);
        } finally {
            WorkDirectories.delete(work);
        }
    }

    private void toS3(Turn turn) throws IOException, InterruptedException {
        String what = "to " + S3Software.S3PROXY;
        S3Turn.with(
                S3Software.S3PROXY,
                turn,
                workload(what),
                results,
                (work, bucket) -> measure(
                        turn, what, work, path -> ArchivingServer.toBucket(path, bucket.endpoint(), "c", often)));
    }

    private static String workload(String what) {
        return "RPUSH, " + CONNECTIONS + " connections, " + what;
    }

    private void measure(Turn turn, String what, Path work, Starter starter) throws IOException, InterruptedException {
        turn.say(workload(what));
        try (ArchivingServer server = starter.start(work)) {
            appends.run(server.address(), warmUp);
            ClosedLoop.Outcome outcome = appends.run(server.address(), time).withoutErrors();
            results.add(
                    workload(what),
                    "Caravan",
                    "sync: fsynced before the reply",
                    new Measurement()
                            .appendsPerSecond(outcome.waits().getTotalCount(), outcome.nanos())
                            .latencies(outcome.waits(), TimeUnit.NANOSECONDS));
        }
    }

    @Override
    public Table table() {
        return new Table(
                "Appends during archiving",
                "Values of 200 bytes, each waited for, to " + appends.documents() + " documents, all of which are"
                        + " archived again every " + often
                        + ", if S3, which shares the cores, keeps up; the default of `--archive-after` is 30"
                        + " minutes. The bandwidth of archiving is unlimited here.",
                results);
    }
}
