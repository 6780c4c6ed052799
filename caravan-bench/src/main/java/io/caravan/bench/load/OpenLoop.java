package io.caravan.bench.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.charset.StandardCharsets;
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

    private static final long GREATEST_MICROS = TimeUnit.MINUTES.toMicros(10);
    private static final long WARMTH_NANOS = TimeUnit.SECONDS.toNanos(1);

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
     * @param all waits of all answered requests, in microseconds
     * @param first those of the requests due in the first second
     * @param late how late requests were sent, in microseconds: this program's own doing, not the server's
     * @param errors answers that were errors
     * @param unanswered requests without an answer
     */
    public record Outcome(Histogram all, Histogram first, Histogram late, long errors, long unanswered) {
        /** Whether this program was late so often that its times say little of the server. */
        public boolean clientTooSlow() {
            return late.getValueAtPercentile(99.9) > TOO_LATE_MICROS;
        }
    }

    private final Plan plan;
    private final InetSocketAddress server;
    private final Random random;
    private final byte[] tail;
    private final Histogram all = new Histogram(GREATEST_MICROS, 3);
    private final Histogram first = new Histogram(GREATEST_MICROS, 3);
    private final Histogram late = new Histogram(GREATEST_MICROS, 3);
    private final List<LoadConnection> connections = new ArrayList<>();
    private long startNanos;
    private long errors;

    public OpenLoop(Plan plan, InetSocketAddress server) {
        this.plan = plan;
        this.server = server;
        this.random = new Random(plan.seed());
        this.tail = ("\r\n$" + plan.valueBytes() + "\r\n" + "x".repeat(plan.valueBytes()) + "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Runs a plan of the same kind on a server that does nothing, within this process: later runs find the client compiled.
     *
     * @throws IOException when even that fails
     */
    public static void warmUp(Plan plan) throws IOException {
        int seconds = Math.min(WARM_UP_SECONDS, plan.seconds());
        Plan shorter =
                new Plan(plan.rate(), plan.connections(), seconds, plan.documents(), plan.valueBytes(), plan.seed());
        try (Echo echo = Echo.start()) {
            new OpenLoop(shorter, echo.address()).run();
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
                connections.add(new LoadConnection(server, selector));
            }
            drive(selector);
            long unanswered =
                    connections.stream().mapToLong(LoadConnection::unanswered).sum();
            return new Outcome(all, first, late, errors, unanswered);
        } finally {
            for (LoadConnection connection : connections) {
                connection.close();
            }
        }
    }

    private void drive(Selector selector) throws IOException {
        double nanosEach = 1e9 / plan.rate();
        startNanos = System.nanoTime();
        long sent = 0;
        long nextDue = startNanos;
        while (sent < plan.requests()) {
            long lateNanos = System.nanoTime() - nextDue;
            if (lateNanos >= 0) {
                late.recordValue(Math.min(GREATEST_MICROS, lateNanos / 1000));
                connections.get((int) (sent % plan.connections())).send(request(), nextDue);
                sent++;
                nextDue = startNanos + (long) (sent * nanosEach);
            } else {
                receive(selector);
            }
        }
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (System.nanoTime() - end < 0 && connections.stream().anyMatch(c -> c.unanswered() > 0)) {
            receive(selector);
        }
    }

    private void receive(Selector selector) throws IOException {
        selector.selectNow();
        for (SelectionKey key : selector.selectedKeys()) {
            ((LoadConnection) key.attachment()).receive(this::answered);
        }
        selector.selectedKeys().clear();
        for (LoadConnection connection : connections) {
            connection.sendRest();
        }
    }

    private void answered(long dueNanos, boolean error) {
        long micros = Math.min(GREATEST_MICROS, (System.nanoTime() - dueNanos) / 1000);
        all.recordValue(micros);
        if (dueNanos - startNanos < WARMTH_NANOS) {
            first.recordValue(micros);
        }
        errors += error ? 1 : 0;
    }

    private byte[] request() {
        String name = "load:" + random.nextInt(plan.documents());
        byte[] head = ("*3\r\n$5\r\nRPUSH\r\n$" + name.length() + "\r\n" + name).getBytes(StandardCharsets.US_ASCII);
        byte[] request = new byte[head.length + tail.length];
        System.arraycopy(head, 0, request, 0, head.length);
        System.arraycopy(tail, 0, request, head.length, tail.length);
        return request;
    }
}
