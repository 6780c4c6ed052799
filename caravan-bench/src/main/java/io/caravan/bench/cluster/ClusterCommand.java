package io.caravan.bench.cluster;

import io.caravan.bench.report.Course;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code scripts/bench cluster}: measures the cost of three nodes, the time to replace a lost leader, and the time that
 * a node takes to rejoin.
 */
@Command(
        name = "cluster",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "A cluster of three hosts beside one host alone and Redis with two replicas and WAIT 1: appends a second over 50"
                    + " connections, and one writer's waits. Then kills leaders, and has a"
                    + " host come back that has missed much.",
            "All hosts are processes on this machine, and share its disk and cores: a cluster of three machines has three"
                    + " times the disks, and a network between them. Each system is started fresh and alone, in turn, in a"
                    + " rotating order; figures are medians of the runs. Every run also measures the force times of the"
                    + " machine.",
            "Uses redis-server from the PATH; if it is missing, its row says so."
        })
public final class ClusterCommand implements Callable<Integer> {
    private static final int KILLS = 20;
    private static final int QUICK_KILLS = 2;
    private static final int REJOIN_MB = 1_000;
    private static final int QUICK_REJOIN_MB = 8;

    /** The parts of this benchmark, in the order in which they run by default. */
    enum Part {
        RATES,
        WRITER,
        TAKEOVERS,
        REJOIN;

        /** The name on the command line. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description = {
                "what to measure, one or more of ${COMPLETION-CANDIDATES}; default: all.",
                "rates: appends a second over 50 connections, at several pipelining depths.",
                "writer: how long one writer waits for each append, beside two forces and a round trip by hand.",
                "takeovers: how long clients wait for an answer when the leader is killed.",
                "rejoin: how long a host that was down while the others took much needs to come back, by the Raft log and"
                        + " by the leader's files, beside copying as many bytes twice."
            })
    private @Nullable List<Part> only;

    @Option(
            names = "--kills",
            paramLabel = "N",
            description =
                    "how often a leader is killed in each run; default " + KILLS + ", with --quick " + QUICK_KILLS)
    private @Nullable Integer kills;

    @Option(
            names = "--rejoin",
            paramLabel = "MB",
            description = "how much a host has missed when it comes back, in MB of values; default " + REJOIN_MB
                    + ", with --quick " + QUICK_REJOIN_MB)
    private @Nullable Integer rejoin;

    @Option(names = "--alone", description = "Caravan without Redis")
    private boolean alone;

    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        course.check(kills == null || kills >= 1, "--kills must be 1 or more");
        course.check(rejoin == null || rejoin >= 1, "--rejoin must be 1 or more");
        List<Part> parts = only == null ? List.of(Part.values()) : only;
        course.runAfterLimits(parts.stream().map(this::measure).toList());
        return 0;
    }

    private Measure measure(Part part) {
        boolean quick = course.quick();
        return switch (part) {
            case RATES -> new ClusterRates(Contestant.all(alone), quick);
            case WRITER -> new LoneWriter(Contestant.all(alone), quick);
            case TAKEOVERS -> new Takeovers(kills != null ? kills : quick ? QUICK_KILLS : KILLS);
            case REJOIN -> new Rejoins(rejoin != null ? rejoin : quick ? QUICK_REJOIN_MB : REJOIN_MB);
        };
    }

    /** Measures the time that clients of a cluster wait for a reply when the leader is killed. */
    private static final class Takeovers implements Measure {
        private static final int DIGITS = 3;

        private final int kills;
        private final Results results = new Results();

        Takeovers(int kills) {
            this.kills = kills;
        }

        @Override
        public void run(Turn turn) throws IOException, InterruptedException {
            Histogram nanos = new Histogram(DIGITS);
            try (ThreeNodes hosts = ThreeNodes.start(turn.work())) {
                for (int kill = 1; kill <= kills; kill++) {
                    turn.say("kill " + kill + " of " + kills + " of the leader");
                    nanos.recordValue(hosts.killLeader());
                }
            }
            results.add(
                    "RPUSH after kill -9 of the leader",
                    ThreeNodes.NAME,
                    ThreeNodes.DURABILITY,
                    new Measurement().latencies(nanos, TimeUnit.NANOSECONDS));
        }

        @Override
        public Table table() {
            return new Table(
                    "Takeovers",
                    "From the `kill -9` of the leader to the first append that another host answers, for which a client at each"
                            + " of them asks anew every millisecond; the percentiles of " + kills
                            + " kills in each run. Between two kills"
                            + " the killed host comes back. `--cluster-election` is " + ThreeNodes.ELECTION
                            + " (1 s by default, for hosts on machines of their own): a host stands for election after one"
                            + " to two of it.",
                    results);
        }
    }
}
