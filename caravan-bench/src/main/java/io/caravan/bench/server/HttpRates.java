package io.caravan.bench.server;

import io.caravan.bench.load.ClosedLoop;
import io.caravan.bench.load.HttpAppends;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Measures appends over HTTP on connections with one or sixteen outstanding requests each. */
final class HttpRates implements Measure {
    private static final int CONNECTIONS = 64;
    private static final int FEW_STREAMS = 64;
    private static final int MANY_STREAMS = 1_000;
    private static final int PIPELINED = 16;
    private static final int VALUE_BYTES = 200;

    private final Results results = new Results();
    private final boolean alone;
    private final Duration warmUp;
    private final Duration length;

    HttpRates(boolean quick, boolean alone) {
        this.alone = alone;
        warmUp = Duration.ofMillis(quick ? 500 : 3_000);
        length = Duration.ofMillis(quick ? 2_000 : 5_000);
    }

    /** The servers of the Durable Streams protocol. */
    static final List<MeasuredServer> SUBJECTS =
            List.of(Caravan.asDelivered(), new ReferenceServer(), new DurableStreamsServer());

    private record Load(String workload, int streams, int depth) {}

    private static final List<Load> LOADS = List.of(
            new Load("POST, 1 stream", 1, 1),
            new Load("POST, " + FEW_STREAMS + " streams", FEW_STREAMS, 1),
            new Load("POST, " + MANY_STREAMS + " streams", MANY_STREAMS, 1),
            new Load("POST, " + FEW_STREAMS + " streams, " + PIPELINED + " pipelined", FEW_STREAMS, PIPELINED));

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        Comparison comparison = new Comparison(results);
        for (MeasuredServer subject : turn.inTurn(SUBJECTS)) {
            for (Load load : LOADS) {
                RunningServer.with(
                        turn,
                        alone,
                        subject,
                        load.workload(),
                        results,
                        server -> comparison.add(load.workload(), subject, measure(server, load)));
            }
        }
    }

    private Measurement measure(RunningServer server, Load load) throws IOException {
        HttpAppends appends = new HttpAppends("load", load.streams(), VALUE_BYTES);
        appends.createStreams(server.http());
        ClosedLoop loop = new ClosedLoop(appends, CONNECTIONS, load.depth(), load.streams());
        loop.run(server.http(), warmUp);
        CpuTimes before = CpuTimes.now(server);
        ClosedLoop.Outcome outcome = loop.run(server.http(), length);
        CpuTimes used = CpuTimes.now(server).since(before);
        long replied = outcome.waits().getTotalCount();
        if (replied == 0) {
            throw new IOException("no append succeeded of " + outcome.errors());
        }
        Measurement measurement = outcome.measurement(1).with(Figure.ERRORS, outcome.errors());
        used.addTo(measurement, replied);
        return measurement;
    }

    @Override
    public Table table() {
        return new Table(
                "Appends over HTTP",
                "`POST` of values of " + VALUE_BYTES + " bytes from " + CONNECTIONS + " connections for "
                        + length.toMillis() + " ms, after " + warmUp.toMillis()
                        + " ms to warm up; each sends its next request after the reply to the last one, or keeps"
                        + " " + PIPELINED + " outstanding. The client is the same for all:"
                        + " " + ClosedLoop.DESCRIPTION + ".",
                results);
    }
}
