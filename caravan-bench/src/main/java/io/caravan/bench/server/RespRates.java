package io.caravan.bench.server;

import io.caravan.bench.Installer;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import io.caravan.testing.ChildProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Measures the requests per second over RESP and the server's processor time, at several pipelining depths. */
final class RespRates implements Measure {
    private static final String WORKLOAD = "RPUSH";
    private static final List<MeasuredServer> SUBJECTS =
            List.of(Caravan.asDelivered(), Redis.fsynced(), Redis.inMemory());
    private static final int[] DEPTHS = {1, 16, 64};
    /** Number of requests for each pipelining depth, chosen so that a run takes a few seconds. */
    private static final int[] COUNTS = {240_000, 800_000, 1_600_000};

    private static final int WARM_UP_DEPTH = 16;
    private static final int WARM_UP_COUNT = 3_000_000;
    private static final int QUICK_DIVISOR = 100;

    private final Results results = new Results();
    private final boolean alone;
    private final int divisor;

    RespRates(boolean quick, boolean alone) {
        this.alone = alone;
        divisor = quick ? QUICK_DIVISOR : 1;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        String missing = RedisBenchmark.missing();
        if (missing != null) {
            results.absent(WORKLOAD, Caravan.NAME, missing);
            return;
        }
        RedisBenchmark benchmark = new RedisBenchmark(turn.work());
        Comparison comparison = new Comparison(results);
        for (MeasuredServer subject : turn.inTurn(SUBJECTS)) {
            RunningServer.with(turn, alone, subject, WORKLOAD, results, server -> {
                benchmark.run(server.address(), WARM_UP_DEPTH, WARM_UP_COUNT / divisor);
                for (int i = 0; i < DEPTHS.length; i++) {
                    String workload = WORKLOAD + ", -P " + DEPTHS[i];
                    turn.say(workload + ", " + subject.name());
                    benchmark.run(server.address(), DEPTHS[i], COUNTS[i] / divisor);
                    comparison.add(workload, subject, measure(benchmark, server, DEPTHS[i], COUNTS[i] / divisor));
                }
            });
        }
    }

    /** Measures one server under load. */
    static Measurement measure(RedisBenchmark benchmark, RunningServer server, int depth, int count)
            throws IOException {
        long cpuNanos = server.cpuTime().toNanos();
        RedisBenchmark.Outcome outcome = benchmark.run(server.address(), depth, count);
        CpuTimes used = new CpuTimes(
                server.cpuTime().toNanos() - cpuNanos, outcome.cpuTime().toNanos());
        Measurement measurement = new Measurement().with(Figure.REQUESTS_PER_SECOND, outcome.requestsPerSecond());
        used.addTo(measurement, count);
        return measurement;
    }

    @Override
    public Table table() {
        return new Table(
                "Appends over RESP",
                "`" + RedisBenchmark.COMMAND_LINE + "`, each server fresh and warmed up by "
                        + WARM_UP_COUNT / divisor + " requests, then by as many of each depth as are measured; at high"
                        + " depths, the single-threaded program itself is the limit.",
                results);
    }

    /**
     * Runs {@code redis-benchmark}: 50 connections push values of 200 bytes onto 10,000 lists in random order.
     *
     * <p>Its built-in {@code rpush} test uses a single list, so the command is given explicitly.
     */
    private static final class RedisBenchmark {
        static final String PROGRAM = "redis-benchmark";
        /** The {@code redis-benchmark} command line to show in the report. */
        static final String COMMAND_LINE =
                PROGRAM + " -c 50 -r 10000 -P DEPTH -n COUNT --csv rpush list:__rand_int__ VALUE_OF_200_BYTES";

        private static final Duration TIMEOUT = Duration.ofSeconds(180);
        private static final int VALUE_BYTES = 200;
        private static final int USER_WORD = 14;
        private static final int SYSTEM_WORD = 15;
        /** Length of a Linux clock tick: Linux reports times in hundredths of a second. */
        private static final long TICK_MILLIS = 10;
        /** Matches the rate in the second column of the output. The first column is the command. */
        private static final Pattern RATE = Pattern.compile("^\"rpush [^\"]*\",\"([0-9.]+)\"", Pattern.MULTILINE);

        private final Path directory;

        /**
         * The result of a run.
         *
         * @param cpuTime processor time used by {@code redis-benchmark} itself
         */
        record Outcome(double requestsPerSecond, Duration cpuTime) {}

        /**
         * Prepares to run {@code redis-benchmark}.
         *
         * @param directory directory for the program's output
         */
        RedisBenchmark(Path directory) {
            this.directory = directory;
        }

        /** Returns a message if the program is not on the PATH, or null if it is. */
        static @Nullable String missing() {
            return Installer.missing(PROGRAM);
        }

        /**
         * Runs {@code redis-benchmark} once.
         *
         * @param depth number of requests that a connection sends before it waits for the replies
         */
        Outcome run(InetSocketAddress server, int depth, int count) throws IOException {
            Path log = Files.createTempFile(directory, PROGRAM, ".csv");
            Duration cpuBefore = cpuTimeOfEndedChildren();
            try (ChildProcess program = new ChildProcess(command(server, depth, count), log)) {
                int status = program.awaitExit(TIMEOUT);
                Matcher rate = RATE.matcher(program.output());
                if (status != 0 || !rate.find()) {
                    throw new IOException(
                            PROGRAM + " ended with status " + status + " and printed: " + program.output());
                }
                return new Outcome(
                        Double.parseDouble(rate.group(1)),
                        cpuTimeOfEndedChildren().minus(cpuBefore));
            } finally {
                Files.delete(log);
            }
        }

        private static List<String> command(InetSocketAddress server, int depth, int count) {
            return List.of(
                    PROGRAM,
                    "-h",
                    server.getHostString(),
                    "-p",
                    Integer.toString(server.getPort()),
                    "-c",
                    "50",
                    "-r",
                    "10000",
                    "-P",
                    Integer.toString(depth),
                    "-n",
                    Integer.toString(count),
                    "--csv",
                    "rpush",
                    "list:__rand_int__",
                    "x".repeat(VALUE_BYTES));
        }

        /**
         * Returns the processor time of all child processes that have ended so far, in steps of 10 ms. The operating
         * system reports it as one sum.
         */
        private static Duration cpuTimeOfEndedChildren() throws IOException {
            String status = Files.readString(Path.of("/proc/self/stat"));
            // The program's name is in parentheses, and may contain spaces.
            String[] words = status.substring(status.lastIndexOf(')')).split(" ");
            return Duration.ofMillis(
                    TICK_MILLIS * (Long.parseLong(words[USER_WORD]) + Long.parseLong(words[SYSTEM_WORD])));
        }
    }
}
