package io.caravan.bench.layers;

import io.caravan.Durability;
import io.caravan.bench.layers.Layer.Where;
import io.caravan.bench.layers.Microbenchmarks.Cost;
import io.caravan.bench.network.ServerAppends;
import io.caravan.bench.report.Charts;
import io.caravan.bench.report.Figure;
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
import java.util.Map;

/** Measures each layer of an append alone, and whole appends in several ways. */
final class Layers implements Measure {
    static final String CARAVAN = "Caravan";
    static final String MEMORY = "memory only";
    static final String REST = "all the rest";

    private static final double PERCENT = 100;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MICRO = 1e3;

    private final Results results = new Results();
    private final Microbenchmarks microbenchmarks;
    private final boolean quick;
    private final int roundAppends;
    private final int rounds;

    Layers(boolean quick) {
        this.quick = quick;
        microbenchmarks = new Microbenchmarks(quick);
        roundAppends = quick ? 2_000 : 400_000;
        rounds = quick ? 1 : 3;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        turn.say("layers, each alone");
        Map<String, Cost> costs = microbenchmarks.run(turn.work());
        Path directory = turn.work().resolve("appends");
        WholeAppends appends = new WholeAppends(directory, roundAppends, rounds);
        if (turn.number() == 1) {
            turn.say("warming up");
            appends.run(Durability.PROCESS);
        }
        turn.say("whole appends");
        WholeAppends.Outcome muted = appends.runMuted();
        WholeAppends.Outcome process = appends.run(Durability.PROCESS);
        WholeAppends.Outcome sync = appends.run(Durability.SYNC);
        addLayers(costs, Where.CALLER, process.each(process.used().callerNanos()));
        addLayers(costs, Where.FLUSHER, process.each(process.used().flusherNanos()));
        addAlone(costs, Where.ASIDE);
        addAlone(costs, Where.MACHINE);
        addWhole(Way.MUTED, muted);
        addWhole(Way.PROCESS, process);
        addWhole(Way.SYNC, sync);
        servers(turn);
    }

    static Row row(Where where, String title) {
        return new Row(where + ": " + title, where == Where.MACHINE ? Charts.MACHINE : CARAVAN, MEMORY);
    }

    private void addLayers(Map<String, Cost> costs, Where where, double threadNanos) {
        double rest = threadNanos;
        for (Layer layer : Layer.on(where)) {
            Cost cost = cost(costs, layer);
            rest -= cost.nanos();
            results.add(
                    row(where, layer.title()),
                    alone(cost).with(LayerFigures.SHARE, PERCENT * cost.nanos() / threadNanos));
        }
        results.add(
                row(where, REST),
                new Measurement()
                        .with(LayerFigures.NANOS, rest)
                        .with(LayerFigures.SHARE, PERCENT * rest / threadNanos));
    }

    private void addAlone(Map<String, Cost> costs, Where where) {
        for (Layer layer : Layer.on(where)) {
            results.add(row(where, layer.title()), alone(cost(costs, layer)));
        }
    }

    private static Cost cost(Map<String, Cost> costs, Layer layer) {
        Cost cost = costs.get(layer.benchmark());
        if (cost == null) {
            throw new IllegalStateException("no result of " + layer.benchmark() + ", only of " + costs.keySet());
        }
        return cost;
    }

    private static Measurement alone(Cost cost) {
        return new Measurement()
                .with(LayerFigures.NANOS, cost.nanos())
                .with(LayerFigures.ALLOCATED, cost.allocatedBytes());
    }

    private void addWhole(Way way, WholeAppends.Outcome outcome) {
        StoreThreads used = outcome.used();
        results.add(
                way.row(),
                new Measurement()
                        .with(LayerFigures.NANOS, outcome.each(outcome.nanos()))
                        .with(LayerFigures.ALLOCATED, outcome.each(used.allocatedBytes()))
                        .with(LayerFigures.CPU_NANOS, outcome.each(used.cpuNanos()))
                        .with(LayerFigures.CALLER_NANOS, outcome.each(used.callerNanos()))
                        .with(LayerFigures.FLUSHER_NANOS, outcome.each(used.flusherNanos()))
                        .with(LayerFigures.OTHER_NANOS, outcome.each(used.otherNanos()))
                        .with(LayerFigures.RECORDS, outcome.recordsPerFlush()));
    }

    private void servers(Turn turn) throws IOException, InterruptedException {
        turn.say("appends through a server");
        try (ServerAppends server = new ServerAppends(turn.work(), quick)) {
            String missing = ServerAppends.missingForResp();
            if (missing == null) {
                server.warmUp();
                addServer(Way.RESP_PIPELINED, server.resp(Way.RESP_PIPELINED.depth()));
                addServer(Way.RESP, server.resp(Way.RESP.depth()));
            } else {
                results.absent(Way.RESP_PIPELINED.row().workload(), CARAVAN, missing);
                results.absent(Way.RESP.row().workload(), CARAVAN, missing);
            }
            addServer(Way.HTTP_PIPELINED, server.http(Way.HTTP_PIPELINED.depth()));
            addServer(Way.HTTP, server.http(Way.HTTP.depth()));
        }
    }

    private void addServer(Way way, Measurement measured) {
        results.add(
                way.row(),
                new Measurement()
                        .with(LayerFigures.NANOS, NANOS_PER_SECOND / measured.get(Figure.REQUESTS_PER_SECOND))
                        .with(LayerFigures.CPU_NANOS, measured.get(Figure.SERVER_CPU_MICROS) * NANOS_PER_MICRO));
    }

    @Override
    public Table table() {
        return new Table(
                "Where the time of an append goes",
                "Values of " + Shape.VALUE_BYTES
                        + " bytes, random order over 10,000 lists; through servers 200 bytes, over HTTP 64 streams."
                        + " JMH measures each layer alone, in its own JVM in each run (1 GiB of Java heap, two"
                        + " warm-ups and two measurements of 250 ms), on the flusher's side with frames of "
                        + FlusherBenchmark.RECORDS
                        + " records. Its share is relative to the processor time that its thread used for a whole"
                        + " append at PROCESS; all the rest is the remainder: callbacks, counters, waking and being"
                        + " woken, frames with fewer records, shared caches. The producer does not wait for whole"
                        + " appends: one producer, rounds of "
                        + String.format(Locale.ROOT, "%,d", roundAppends) + " appends, at most " + rounds
                        + " or 2 s, each until its last append is acknowledged, in a store that has trimmed earlier"
                        + " rounds, so that it has log segments to recycle and space in its heap. Its threads work"
                        + " concurrently, so their times overlap. Without I/O means that the log's frames are"
                        + " neither written nor forced. Over RESP it is redis-benchmark with 50 connections, over"
                        + " HTTP 64 connections, to a server with default settings in its own process: the time is"
                        + " that between two answers.",
                results);
    }

    @Override
    public List<Picture> pictures() {
        return List.of(LayerPictures.layers(results), LayerPictures.ways(results));
    }
}
