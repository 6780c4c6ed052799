package io.caravan.bench.load;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/**
 * Appends to random documents over connections that each keep a fixed number of appends outstanding, sending another
 * after each reply. Uses one thread, because on a small machine every client thread takes a core from the server.
 *
 * @param depth number of outstanding appends on each connection
 */
public record ClosedLoop(Protocol protocol, int connections, int depth, int documents) {
    /** A description of the load, for use in the notes below a table. */
    public static final String DESCRIPTION = "one thread, connections kept alive";

    private static final int DIGITS = 3;
    private static final long POLL_MILLIS = 10;
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(120);

    /**
     * The result of a run.
     *
     * @param waits time from each accepted append to its reply, in nanoseconds
     * @param errors number of error replies
     * @param nanos time from the first request to the last reply
     */
    public record Outcome(Histogram waits, long errors, long nanos) {
        /** Returns the latencies and the requests per second; each append counts as {@code requestsEach} requests. */
        public Measurement measurement(int requestsEach) {
            double seconds = nanos / (double) TimeUnit.SECONDS.toNanos(1);
            return new Measurement()
                    .with(Figure.REQUESTS_PER_SECOND, waits.getTotalCount() * requestsEach / seconds)
                    .latencies(waits, TimeUnit.NANOSECONDS);
        }

        /** Returns this outcome, or throws an exception if an append was rejected. */
        public Outcome withoutErrors() throws IOException {
            if (errors > 0) {
                throw new IOException(errors + " appends were rejected");
            }
            return this;
        }
    }

    /** Connects to the server, and then appends for the given time. */
    public Outcome run(InetSocketAddress server, Duration time) throws IOException {
        try (Connections opened = new Connections(server, connections, protocol)) {
            long end = System.nanoTime() + time.toNanos();
            return new Run(opened, () -> System.nanoTime() - end < 0).run();
        }
    }

    /**
     * Appends as long as {@code mayContinue}, which is called before each append, returns true. Then waits for the last
     * replies.
     *
     * @throws IOException if the server cannot be reached, closes a connection, or does not reply
     */
    public Outcome run(InetSocketAddress server, BooleanSupplier mayContinue) throws IOException {
        try (Connections opened = new Connections(server, connections, protocol)) {
            return new Run(opened, mayContinue).run();
        }
    }

    /**
     * Runs the same load against an in-process server that only sends replies. The result shows the cost of the client
     * and the machine alone.
     */
    public Outcome runOnEcho(BooleanSupplier mayContinue) throws IOException {
        try (Echo echo = Echo.start(protocol)) {
            return run(echo.address(), mayContinue);
        }
    }

    private final class Run {
        private final Connections opened;
        private final BooleanSupplier mayContinue;
        private final SplittableRandom random = new SplittableRandom(1);
        private final Histogram waits = new Histogram(DIGITS);
        private boolean begun;
        private long errors;
        private long lastReply;

        Run(Connections opened, BooleanSupplier mayContinue) {
            this.opened = opened;
            this.mayContinue = mayContinue;
        }

        Outcome run() throws IOException {
            long start = System.nanoTime();
            lastReply = start;
            for (Connections.Connection connection : opened.all()) {
                for (int i = 0; i < depth; i++) {
                    sendNext(connection);
                }
            }
            while (opened.waiting()) {
                opened.serve(POLL_MILLIS, this::replied);
                if (System.nanoTime() - lastReply > TIMEOUT_NANOS) {
                    throw new IOException("no reply in " + TimeUnit.NANOSECONDS.toSeconds(TIMEOUT_NANOS) + " s");
                }
            }
            return new Outcome(waits, errors, lastReply - start);
        }

        private void sendNext(Connections.Connection connection) throws IOException {
            // Sends at least one append even if this thread starts late, because a rate needs at least one append.
            if (mayContinue.getAsBoolean() || !begun) {
                begun = true;
                connection.send(protocol.append(random.nextInt(documents)), System.nanoTime());
            }
        }

        private void replied(Connections.Connection connection, long sentNanos, boolean error) throws IOException {
            lastReply = System.nanoTime();
            if (error) {
                errors++;
            } else {
                waits.recordValue(lastReply - sentNanos);
            }
            sendNext(connection);
        }
    }
}
