package io.caravan.bench.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Appends at a fixed rate. Each append is sent when it is due, whether or not earlier appends have replies, and is
 * timed from that moment. A stalled server is therefore charged for all requests that were due in the meantime (no
 * coordinated omission).
 *
 * <p>Uses one thread that never sleeps, because waking up would take longer than a good server's reply. The thread's
 * own delay is included in the times and reported separately. {@linkplain #warmUp Warm up} the client first; otherwise
 * the times also include JIT compilation.
 */
public final class OpenLoop {
    /**
     * Maximum length of a value. Longer values would fill a connection's buffer for requests that the server does not
     * accept immediately.
     */
    public static final int MAX_VALUE_BYTES = 64 * 1024;

    private static final long TOO_LATE_MICROS = 5_000;
    private static final int WARM_UP_SECONDS = 3;

    /** The time limit for replies to the last requests. */
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);

    /**
     * The load to generate.
     *
     * @param rate appends per second
     * @param seconds duration
     * @param documents number of documents
     * @param valueBytes length of each value, at most {@link #MAX_VALUE_BYTES}
     */
    public record Plan(int rate, int connections, int seconds, int documents, int valueBytes, long seed) {
        public Plan {
            if (valueBytes < 0 || valueBytes > MAX_VALUE_BYTES) {
                throw new IllegalArgumentException(
                        "valueBytes must be from 0 to " + MAX_VALUE_BYTES + ", was " + valueBytes);
            }
        }

        /** Total number of appends. */
        public long requests() {
            return (long) rate * seconds;
        }
    }

    /**
     * The result of a run.
     *
     * @param late delay with which requests were sent, in microseconds; this program causes it, not the server
     * @param errors number of error replies
     * @param withoutReply number of requests without a reply
     */
    public record Outcome(Timeline timeline, Histogram late, long errors, long withoutReply) {
        /** Whether this program sent so many requests late that its results do not represent the server. */
        public boolean clientTooSlow() {
            return late.getValueAtPercentile(99.9) > TOO_LATE_MICROS;
        }

        /** Returns the latencies of all requests, in microseconds. */
        public Histogram all() {
            return timeline.waitsFrom(0);
        }

        /** Returns the latencies of the requests that were due in the first second. */
        public Histogram first() {
            return timeline.seconds().get(0).waits();
        }
    }

    private final Plan plan;
    private final Protocol protocol;
    private final InetSocketAddress server;
    private final Random random;
    private final Histogram late = new Histogram(3);
    private long errors;

    public OpenLoop(Plan plan, Protocol protocol, InetSocketAddress server) {
        this.plan = plan;
        this.protocol = protocol;
        this.server = server;
        this.random = new Random(plan.seed());
    }

    /**
     * Runs a shorter plan against an in-process server that only sends replies, so that the client's code is compiled
     * before later runs. The result shows the cost of the client and the machine alone.
     *
     * @throws IOException if the run fails
     */
    public static Outcome warmUp(Plan plan, Protocol protocol) throws IOException {
        int seconds = Math.min(WARM_UP_SECONDS, plan.seconds());
        Plan shorter =
                new Plan(plan.rate(), plan.connections(), seconds, plan.documents(), plan.valueBytes(), plan.seed());
        try (Echo echo = Echo.start(protocol)) {
            return new OpenLoop(shorter, protocol, echo.address()).run();
        }
    }

    /**
     * Runs the complete plan.
     *
     * @throws IOException if the server cannot be reached or closes a connection
     */
    public Outcome run() throws IOException {
        try (Connections connections = new Connections(server, plan.connections(), protocol)) {
            Timeline timeline = new Timeline(System.nanoTime(), plan.seconds());
            sendAll(connections, timeline);
            awaitReplies(connections, timeline);
            return new Outcome(timeline, late, errors, abandon(connections, timeline));
        }
    }

    private void sendAll(Connections connections, Timeline timeline) throws IOException {
        double nanosEach = 1e9 / plan.rate();
        long sent = 0;
        long nextDue = timeline.startNanos();
        while (sent < plan.requests()) {
            long now = System.nanoTime();
            if (now - nextDue >= 0) {
                late.recordValue((now - nextDue) / 1000);
                byte[] request = protocol.append(random.nextInt(plan.documents()));
                connections.all().get((int) (sent % plan.connections())).send(request, nextDue);
                timeline.sent(now);
                sent++;
                nextDue = timeline.startNanos() + (long) (sent * nanosEach);
            } else {
                receive(connections, timeline);
            }
        }
    }

    private void awaitReplies(Connections connections, Timeline timeline) throws IOException {
        long end = System.nanoTime() + TIMEOUT_NANOS;
        while (System.nanoTime() - end < 0 && connections.waiting()) {
            receive(connections, timeline);
        }
    }

    private void receive(Connections connections, Timeline timeline) throws IOException {
        connections.serve(0, (connection, dueNanos, error) -> {
            timeline.replied(dueNanos, System.nanoTime(), error);
            errors += error ? 1 : 0;
        });
    }

    /** Records the requests without a reply and returns their number. */
    private static long abandon(Connections connections, Timeline timeline) {
        long now = System.nanoTime();
        long count = 0;
        for (Connections.Connection connection : connections.all()) {
            connection.pending().forEach(dueNanos -> timeline.abandoned(dueNanos, now));
            count += connection.pending().size();
        }
        return count;
    }
}
