package io.caravan.bench.seeds;

import io.caravan.Durability;
import io.caravan.bench.load.OpenLoop;
import io.caravan.bench.load.RespAppends;
import io.caravan.bench.network.Caravan;
import io.caravan.bench.network.RunningServer;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import org.HdrHistogram.Histogram;

/**
 * Sends deltas at a fixed rate to a server over RESP, timed from when each was due; the server always forces.
 *
 * @param warmSeconds number of initial seconds that do not count
 */
record LiveDeltas(String name, OpenLoop.Plan plan, int warmSeconds) implements Work {
    private static final double MICROS_PER_MILLI = 1e3;

    @Override
    public Measurement run(Turn turn, Durability level) throws IOException {
        RespAppends protocol = new RespAppends(plan.valueBytes());
        OpenLoop.warmUp(plan, protocol);
        try (RunningServer server = RunningServer.start(Caravan.asDelivered(), turn.work())) {
            OpenLoop.Outcome outcome = new OpenLoop(plan, protocol, server.resp()).run();
            if (outcome.errors() + outcome.unanswered() > 0) {
                throw new IOException(
                        outcome.errors() + " deltas were refused, " + outcome.unanswered() + " never answered");
            }
            Histogram waits = outcome.timeline().waitsFrom(warmSeconds);
            return new Measurement()
                    .with(Figure.P50_MILLIS, waits.getValueAtPercentile(50) / MICROS_PER_MILLI)
                    .with(Figure.P98_MILLIS, waits.getValueAtPercentile(98) / MICROS_PER_MILLI);
        }
    }
}
