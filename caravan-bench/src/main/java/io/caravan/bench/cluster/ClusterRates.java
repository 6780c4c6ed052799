package io.caravan.bench.cluster;

import io.caravan.bench.load.ClosedLoop;
import io.caravan.bench.load.RespAppends;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/** Measures appends per second over many connections, at several pipelining depths. */
final class ClusterRates implements Measure {
    private static final String WORKLOAD = "RPUSH";
    private static final int CONNECTIONS = 50;
    private static final int[] DEPTHS = {1, 16, 64};
    private static final Duration TIME = Duration.ofSeconds(5);
    private static final Duration QUICK = Duration.ofMillis(200);

    private final List<ClusterContestant> contestants;
    private final boolean quick;
    private final Duration time;
    private final Results results = new Results();

    ClusterRates(List<ClusterContestant> contestants, boolean quick) {
        this.contestants = contestants;
        this.quick = quick;
        this.time = quick ? QUICK : TIME;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        for (ClusterContestant contestant : turn.inTurn(contestants)) {
            contestant.run(turn, WORKLOAD, results, running -> {
                contestant.warmUp(running.address(), quick);
                for (int depth : DEPTHS) {
                    String workload = WORKLOAD + ", P" + depth;
                    turn.say(workload + ", " + contestant.name());
                    results.add(
                            workload,
                            contestant.name(),
                            contestant.durability(),
                            measure(contestant, running.address(), depth));
                }
            });
        }
    }

    private Measurement measure(ClusterContestant contestant, InetSocketAddress server, int depth) throws IOException {
        RespAppends together = contestant.appends(new byte[ClusterContestant.VALUE_BYTES], depth);
        return new ClosedLoop(together, CONNECTIONS, 1, ClusterContestant.LISTS)
                .run(server, time)
                .withoutErrors()
                .measurement(depth);
    }

    @Override
    public Table table() {
        return new Table(
                "Appends",
                "Values of 200 bytes to 10,000 lists over " + CONNECTIONS
                        + " connections. Each connection sends `P` appends together to one list, and waits for all"
                        + " replies; the times are these waits. With Redis, a `WAIT 1` follows the appends. The client"
                        + " is one thread, which shares the cores with all nodes.",
                results);
    }
}
