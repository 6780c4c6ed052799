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
 * sleeps, as any sleep would be late by more than a good server takes.
 */
final class OpenLoop {
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
     * @param valueBytes length of each value
     */
    record Plan(int rate, int connections, int seconds, int documents, int valueBytes, long seed) {
        long requests() {
            return (long) rate * seconds;
        }
    }

    /**
     * What came of it.
     *
     * @param all waits of all answered requests, in microseconds
     * @param first those of the requests due in the first second
     * @param errors answers that were errors
     * @param unanswered requests without an answer
     */
    record Outcome(Histogram all, Histogram first, long errors, long unanswered) {}

    private final Plan plan;
    private final InetSocketAddress server;
    private final Random random;
    private final byte[] tail;
    private final Histogram all = new Histogram(GREATEST_MICROS, 3);
    private final Histogram first = new Histogram(GREATEST_MICROS, 3);
    private final List<LoadConnection> connections = new ArrayList<>();
    private long startNanos;
    private long errors;

    OpenLoop(Plan plan, InetSocketAddress server) {
        this.plan = plan;
        this.server = server;
        this.random = new Random(plan.seed());
        this.tail = ("\r\n$" + plan.valueBytes() + "\r\n" + "x".repeat(plan.valueBytes()) + "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Runs the whole plan.
     *
     * @throws IOException when the server cannot be reached or closes a connection
     */
    Outcome run() throws IOException {
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < plan.connections(); i++) {
                connections.add(new LoadConnection(server, selector));
            }
            drive(selector);
            long unanswered =
                    connections.stream().mapToLong(LoadConnection::unanswered).sum();
            return new Outcome(all, first, errors, unanswered);
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
            if (System.nanoTime() - nextDue >= 0) {
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
