package io.caravan.bench.network;

import io.caravan.bench.Executables;
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

/**
 * Runs {@code redis-benchmark}: 50 connections push values of 200 bytes onto 10,000 lists in random order.
 *
 * <p>Its built-in {@code rpush} test uses a single list, so the command is given explicitly.
 */
final class RedisBenchmark {
    static final String PROGRAM = "redis-benchmark";
    /** The command line, for the report. */
    static final String COMMAND_LINE =
            PROGRAM + " -c 50 -r 10000 -P DEPTH -n COUNT --csv rpush list:__rand_int__ VALUE_OF_200_BYTES";

    private static final Duration PATIENCE = Duration.ofSeconds(180);
    private static final int VALUE_BYTES = 200;
    /** Matches the second column, the rate. The first column is the command. */
    private static final Pattern RATE = Pattern.compile("^\"rpush [^\"]*\",\"([0-9.]+)\"", Pattern.MULTILINE);

    private final Path directory;

    /**
     * The result of a run.
     *
     * @param cpuTime processor time of the program itself
     */
    record Outcome(double requestsPerSecond, Duration cpuTime) {}

    /**
     * Prepares runs of the program.
     *
     * @param directory directory for the program's output
     */
    RedisBenchmark(Path directory) {
        this.directory = directory;
    }

    /** Returns a message if the program is not on the PATH, or null if it is. */
    static @Nullable String missing() {
        return Executables.missing(PROGRAM);
    }

    /**
     * Runs the program.
     *
     * @param depth number of requests that a connection sends before it waits for the replies
     */
    Outcome run(InetSocketAddress server, int depth, int count) throws IOException {
        Path log = Files.createTempFile(directory, PROGRAM, ".csv");
        Duration cpuBefore = EndedChildren.cpuTime();
        try (ChildProcess program = new ChildProcess(command(server, depth, count), log)) {
            int status = program.awaitExit(PATIENCE);
            Matcher rate = RATE.matcher(program.output());
            if (status != 0 || !rate.find()) {
                throw new IOException(PROGRAM + " ended with status " + status + " and printed: " + program.output());
            }
            return new Outcome(
                    Double.parseDouble(rate.group(1)), EndedChildren.cpuTime().minus(cpuBefore));
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
}
