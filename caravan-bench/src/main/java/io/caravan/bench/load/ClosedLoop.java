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
 * Connections that each keep a number of appends outstanding, to random documents, and send the next after each reply.
 * Uses one thread, because on a small machine every client thread takes a core from the server.
 *
 * @param depth outstanding appends of each connection
 */
public record ClosedLoop(Protocol protocol, int connections, int depth, int documents) {
    /** Description for a table's notes. */
    public static final String DESCRIPTION = "one thread, connections kept alive";

    private static final int DIGITS = 3;
    private static final long LOOK_MILLIS = 10;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);

    /**
     * The result.
     *
     * @param waits time from each append to its reply, in nanoseconds, without those that were refused
     * @param errors number of error replies
     * @param nanos time from the first request to the last reply
     */
    public record Outcome(Histogram waits, long errors, long nanos) {
        /** Returns the requests a second, if each append is {@code requestsEach} requests, and the latencies. */
        public Measurement measurement(int requestsEach) {
            double seconds = nanos / (double) TimeUnit.SECONDS.toNanos(1);
            return new Measurement()
                    .with(Figure.REQUESTS_PER_SECOND, waits.getTotalCount() * requestsEach / seconds)
                    .latencies(waits, TimeUnit.NANOSECONDS);
        }

        /** The same outcome, for a load in which no append may be refused. */
        public Outcome withoutErrors() throws IOException {
            if (errors > 0) {
                throw new IOException(errors + " appends were refused");
            }
            return this;
        }
    }

    /** Appends for this time, once connected. */
    public Outcome run(InetSocketAddress server, Duration time) throws IOException {
        try (Connections opened = new Connections(server, connections, protocol)) {
            long end = System.nanoTime() + time.toNanos();
            return new Run(opened, () -> System.nanoTime() - end < 0).run();
        }
    }

    /**
     * Appends while {@code goesOn} returns true, which is called before each append, and waits for the last replies.
     *
     * @throws IOException when the server cannot be reached, closes a connection, or does not reply
     */
    public Outcome run(InetSocketAddress server, BooleanSupplier goesOn) throws IOException {
        try (Connections opened = new Connections(server, connections, protocol)) {
            return new Run(opened, goesOn).run();
        }
    }

    /**
     * Runs the same load on a server within this process that does nothing: the cost of the client and the machine
     * alone.
     */
    public Outcome runOnEcho(BooleanSupplier goesOn) throws IOException {
        try (Echo echo = Echo.start(protocol)) {
            return run(echo.address(), goesOn);
        }
    }

    private final class Run {
        private final Connections opened;
        private final BooleanSupplier goesOn;
        private final SplittableRandom random = new SplittableRandom(1);
        private final Histogram waits = new Histogram(DIGITS);
        private boolean begun;
        private long errors;
        private long lastAnswer;

        Run(Connections opened, BooleanSupplier goesOn) {
            this.opened = opened;
            this.goesOn = goesOn;
        }

        Outcome run() throws IOException {
            long start = System.nanoTime();
            lastAnswer = start;
            for (LoadConnection connection : opened.all()) {
                for (int i = 0; i < depth; i++) {
                    sendNext(connection);
                }
            }
            while (opened.waiting()) {
                opened.serve(LOOK_MILLIS, this::answered);
                if (System.nanoTime() - lastAnswer > PATIENCE_NANOS) {
                    throw new IOException("no answer in " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS) + " s");
                }
            }
            return new Outcome(waits, errors, lastAnswer - start);
        }

        private void sendNext(LoadConnection connection) throws IOException {
            // At least one append, however late this thread has begun, because no appends give no rate.
            if (goesOn.getAsBoolean() || !begun) {
                begun = true;
                connection.send(protocol.append(random.nextInt(documents)), System.nanoTime());
            }
        }

        private void answered(LoadConnection connection, long sentNanos, boolean error) throws IOException {
            lastAnswer = System.nanoTime();
            if (error) {
                errors++;
            } else {
                waits.recordValue(lastAnswer - sentNanos);
            }
            sendNext(connection);
        }
    }
}
