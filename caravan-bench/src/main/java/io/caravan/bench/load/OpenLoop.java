package io.caravan.bench.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Appends at a fixed rate, each at its moment whether the ones before are answered or not, and timed from that moment: a
 * server that stalls is charged for all that should have come meanwhile (no coordinated omission). One thread, which never
 * sleeps, as any sleep would be late by more than a good server takes. How late it was itself is told, because that is in
 * the times too. It should be {@linkplain #warmUp warmed up}, or what Java takes to compile it is in them as well.
 */
public final class OpenLoop {
    /** Longer ones would fill what a connection keeps of requests that the server does not take at once. */
    public static final int MAX_VALUE_BYTES = 64 * 1024;

    private static final long TOO_LATE_MICROS = 5_000;
    private static final int WARM_UP_SECONDS = 3;

    /** How long answers may take after the last request. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /**
     * What to do.
     *
     * @param rate appends a second
     * @param seconds for how long
     * @param documents how many there are
     * @param valueBytes length of each value, at most {@link #MAX_VALUE_BYTES}
     */
    public record Plan(int rate, int connections, int seconds, int documents, int valueBytes, long seed) {
        public Plan {
            if (valueBytes < 0 || valueBytes > MAX_VALUE_BYTES) {
                throw new IllegalArgumentException(
                        "valueBytes must be from 0 to " + MAX_VALUE_BYTES + ", was " + valueBytes);
            }
        }

        /** Appends in all. */
        public long requests() {
            return (long) rate * seconds;
        }
    }

    /**
     * What came of it.
     *
     * @param late how late requests were sent, in microseconds: this program's own doing, not the server's
     * @param errors answers that were errors
     * @param unanswered requests without an answer
     */
    public record Outcome(Timeline timeline, Histogram late, long errors, long unanswered) {
        /** Whether this program was late so often that its times say little of the server. */
        public boolean clientTooSlow() {
            return late.getValueAtPercentile(99.9) > TOO_LATE_MICROS;
        }

        /** Waits of all requests, in microseconds. */
        public Histogram all() {
            return timeline.waitsFrom(0);
        }

        /** Those of the requests due in the first second. */
        public Histogram first() {
            return timeline.seconds().get(0).waits();
        }
    }

    private final Plan plan;
    private final Protocol protocol;
    private final InetSocketAddress server;
    private final Random random;
    private final Histogram late = new Histogram(3);
    private final List<LoadConnection> connections = new ArrayList<>();
    private long errors;

    public OpenLoop(Plan plan, Protocol protocol, InetSocketAddress server) {
        this.plan = plan;
        this.protocol = protocol;
        this.server = server;
        this.random = new Random(plan.seed());
    }

    /**
     * Runs a plan of the same kind on a server that does nothing, within this process: later runs find the client compiled.
     * What comes of it is what the client and the machine take by themselves.
     *
     * @throws IOException when even that fails
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
     * Runs the whole plan.
     *
     * @throws IOException when the server cannot be reached or closes a connection
     */
    public Outcome run() throws IOException {
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < plan.connections(); i++) {
                connections.add(new LoadConnection(server, selector, protocol.answers()));
            }
            Timeline timeline = new Timeline(System.nanoTime(), plan.seconds());
            sendAll(selector, timeline);
            awaitAnswers(selector, timeline);
            return new Outcome(timeline, late, errors, abandon(timeline));
        } finally {
            for (LoadConnection connection : connections) {
                connection.close();
            }
        }
    }

    private void sendAll(Selector selector, Timeline timeline) throws IOException {
        double nanosEach = 1e9 / plan.rate();
        long sent = 0;
        long nextDue = timeline.startNanos();
        while (sent < plan.requests()) {
            long now = System.nanoTime();
            if (now - nextDue >= 0) {
                late.recordValue((now - nextDue) / 1000);
                byte[] request = protocol.append(random.nextInt(plan.documents()));
                connections.get((int) (sent % plan.connections())).send(request, nextDue);
                timeline.sent(now);
                sent++;
                nextDue = timeline.startNanos() + (long) (sent * nanosEach);
            } else {
                receive(selector, timeline);
            }
        }
    }

    private void awaitAnswers(Selector selector, Timeline timeline) throws IOException {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (System.nanoTime() - end < 0
                && connections.stream().anyMatch(c -> !c.unanswered().isEmpty())) {
            receive(selector, timeline);
        }
    }

    private void receive(Selector selector, Timeline timeline) throws IOException {
        selector.selectNow();
        for (SelectionKey key : selector.selectedKeys()) {
            ((LoadConnection) key.attachment()).receive((dueNanos, error) -> {
                timeline.answered(dueNanos, System.nanoTime(), error);
                errors += error ? 1 : 0;
            });
        }
        selector.selectedKeys().clear();
        for (LoadConnection connection : connections) {
            connection.sendRest();
        }
    }

    /** Notes what nobody has answered, and tells how many. */
    private long abandon(Timeline timeline) {
        long now = System.nanoTime();
        long count = 0;
        for (LoadConnection connection : connections) {
            connection.unanswered().forEach(dueNanos -> timeline.abandoned(dueNanos, now));
            count += connection.unanswered().size();
        }
        return count;
    }
}
