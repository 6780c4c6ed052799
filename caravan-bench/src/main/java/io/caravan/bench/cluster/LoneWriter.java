package io.caravan.bench.cluster;

import io.caravan.bench.load.ClosedLoop;
import io.caravan.bench.load.RespAppends;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.FsyncProbe;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** Measures the latency of one writer that appends one value after another, compared with the latency of plain I/O. */
final class LoneWriter implements Measure {
    private static final String WORKLOAD = "RPUSH, one writer";
    private static final int APPENDS = 2_000;
    private static final int QUICK_APPENDS = 20;

    private final List<ClusterContestant> contestants;
    private final boolean quick;
    private final int appends;
    private final Results results = new Results();

    LoneWriter(List<ClusterContestant> contestants, boolean quick) {
        this.contestants = contestants;
        this.quick = quick;
        this.appends = quick ? QUICK_APPENDS : APPENDS;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        for (ClusterContestant contestant : turn.inTurn(contestants)) {
            contestant.run(turn, WORKLOAD, results, running -> {
                contestant.warmUp(running.address(), quick);
                ClosedLoop writer = one(contestant.appends(new byte[ClusterContestant.VALUE_BYTES], 1));
                writer.run(running.address(), counted());
                results.add(
                        WORKLOAD,
                        contestant.name(),
                        contestant.durability(),
                        writer.run(running.address(), counted()).withoutErrors().measurement(1));
            });
        }
        turn.say("two fsyncs and a round trip, by hand");
        results.add(WORKLOAD, "two fsyncs and a loopback round trip, by hand", "fsynced twice", byHand(turn));
    }

    private static ClosedLoop one(RespAppends appends) {
        return new ClosedLoop(appends, 1, 1, 1);
    }

    private BooleanSupplier counted() {
        AtomicInteger left = new AtomicInteger(appends);
        return () -> left.getAndDecrement() > 0;
    }

    /**
     * Returns twice the median fsync time (one fsync on the leader and one on a follower) plus the median round-trip
     * time.
     */
    private Measurement byHand(Turn turn) throws IOException {
        double fsyncMicros = FsyncProbe.run(turn.work(), appends).get(Figure.P50_MICROS);
        double roundTripMillis = one(new RespAppends(ClusterContestant.VALUE_BYTES))
                .runOnEcho(counted())
                .measurement(1)
                .get(Figure.P50_MILLIS);
        return new Measurement()
                .with(Figure.P50_MILLIS, 2 * fsyncMicros / TimeUnit.MILLISECONDS.toMicros(1) + roundTripMillis);
    }

    @Override
    public Table table() {
        return new Table(
                "One writer",
                "One connection appends " + appends
                        + " values of 200 bytes, each after the reply to the last one. Before that, it appends as many"
                        + " values to warm up, and 50 connections append for 20 s. By hand: the median fsync of 4 KiB"
                        + " in an allocated file, twice, and the median round trip of an append to a server that does"
                        + " nothing, over loopback.",
                results);
    }
}
