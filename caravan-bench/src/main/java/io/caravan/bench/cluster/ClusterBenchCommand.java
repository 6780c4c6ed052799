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

/** {@code scripts/bench cluster}: measures the cost of a three-node cluster, and the time to replace a lost leader. */
@Command(
        name = "cluster",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Compares a cluster of three nodes with a single node, and with Redis with two replicas and WAIT 1:"
                    + " appends per second over 50 connections, and the waiting times of one writer. Then kills leaders.",
            "All nodes are processes on this machine, and share its disk and cores, unlike a cluster of three"
                    + " machines. Each system is started again and alone in each run, in a rotating order; the results are"
                    + " medians of all runs. Every run also measures the fsync times of the machine.",
            "Uses redis-server from the PATH; if it is missing, its row states this."
        })
public final class ClusterBenchCommand implements Callable<Integer> {
    private static final int KILLS = 20;
    private static final int QUICK_KILLS = 2;

    /** The parts of this benchmark, in the order in which they run by default. */
    enum Part {
        RATES,
        WRITER,
        TAKEOVERS;

        /** Returns the name that selects this part on the command line. */
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
                "rates: appends per second over 50 connections, at several pipelining depths.",
                "writer: the time that one writer waits for each append, compared with two fsyncs and a round trip"
                        + " without a store.",
                "takeovers: the time that clients wait for a reply after the leader was killed."
            })
    private @Nullable List<Part> only;

    @Option(
            names = "--kills",
            paramLabel = "N",
            description =
                    "how often a leader is killed in each run; default " + KILLS + ", with --quick " + QUICK_KILLS)
    private @Nullable Integer kills;

    @Option(names = "--alone", description = "Caravan without Redis")
    private boolean alone;

    @Mixin
    private final Course course = new Course();

    @Override
    public Integer call() throws IOException, InterruptedException {
        course.check(kills == null || kills >= 1, "--kills must be 1 or more");
        return course.runAfterLimits(only, Part.values(), this::measure);
    }

    private Measure measure(Part part) {
        boolean quick = course.quick();
        return switch (part) {
            case RATES -> new ClusterRates(ClusterContestant.all(alone), quick);
            case WRITER -> new LoneWriter(ClusterContestant.all(alone), quick);
            case TAKEOVERS -> new Takeovers(kills != null ? kills : quick ? QUICK_KILLS : KILLS);
        };
    }

    /** Measures how long clients of a cluster wait for a reply after the leader is killed. */
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
            try (ThreeNodes nodes = ThreeNodes.start(turn.work())) {
                for (int kill = 1; kill <= kills; kill++) {
                    turn.say("kill " + kill + " of " + kills + " of the leader");
                    nanos.recordValue(nodes.killLeader());
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
                    "The time from the `kill -9` of the leader to the first append that another node acknowledges. A"
                            + " client of each node tries an append every millisecond. The percentiles are those"
                            + " of " + kills
                            + " kills in each run. Between two kills, the killed node is restarted."
                            + " `--cluster-election` is "
                            + ThreeNodes.ELECTION
                            + " (1 s by default, for nodes on separate machines): a node starts an"
                            + " election after one to two times this timeout.",
                    results);
        }
    }
}
