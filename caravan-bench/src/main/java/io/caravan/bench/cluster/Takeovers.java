package io.caravan.bench.cluster;

import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Measures the time that clients of a cluster wait for a reply when the leader is killed. */
final class Takeovers implements Measure {
    private static final int DIGITS = 3;

    private final int kills;
    private final Results results = new Results();

    Takeovers(int kills) {
        this.kills = kills;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        Histogram nanos = new Histogram(DIGITS);
        try (ThreeHosts hosts = ThreeHosts.start(turn.work())) {
            for (int kill = 1; kill <= kills; kill++) {
                turn.say("kill " + kill + " of " + kills + " of the leader");
                nanos.recordValue(hosts.killLeader());
            }
        }
        results.add(
                "RPUSH after kill -9 of the leader",
                ThreeHosts.NAME,
                ThreeHosts.DURABILITY,
                new Measurement().latencies(nanos, TimeUnit.NANOSECONDS));
    }

    @Override
    public Table table() {
        return new Table(
                "Takeovers",
                "From the `kill -9` of the leader to the first append that another host answers, for which a client at each"
                        + " of them asks anew every millisecond; the percentiles of " + kills
                        + " kills in each run. Between two kills"
                        + " the killed host comes back. `--cluster-election` is " + ThreeHosts.ELECTION
                        + " (1 s by default, for hosts on machines of their own): a host stands for election after one"
                        + " to two of it.",
                results);
    }
}
