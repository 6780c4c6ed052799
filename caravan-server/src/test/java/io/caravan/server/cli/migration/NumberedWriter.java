package io.caravan.server.cli.migration;

import io.caravan.server.protocol.resp.RespClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A client that appends numbers to a document, each of which equals its sequence. It follows the document to other
 * servers, and stops when it is closed or finds a lost or duplicate value.
 */
final class NumberedWriter extends Thread implements AutoCloseable {
    private static final long KEEP_ALL = -1;
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final String name;
    private final long pauseNanos;
    private final AtomicLong acknowledged = new AtomicLong();
    private volatile int port;
    private volatile boolean ended;
    private volatile String problem = "";
    private volatile long mayLoseFrom = KEEP_ALL;

    /**
     * Creates a writer that appends to the server on this port: {@code perSecond} times per second, or nonstop if 0.
     */
    NumberedWriter(String name, int port, int perSecond) {
        super("writer");
        this.name = name;
        this.port = port;
        this.pauseNanos = perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
        setDaemon(true);
    }

    /** Returns the next number to append. All smaller numbers are acknowledged and not known to be lost. */
    long acknowledged() {
        return acknowledged.get();
    }

    /** Returns the port of the server on which the document was last found. */
    int port() {
        return port;
    }

    /** Returns the first problem, or an empty string. */
    String problem() {
        return problem;
    }

    /** Allows crashes to lose acknowledged numbers from {@code number} on. */
    void mayLoseFrom(long number) {
        mayLoseFrom = number;
    }

    /** Allows no loss of acknowledged numbers. */
    void mayLoseNothing() {
        mayLoseFrom = KEEP_ALL;
    }

    @Override
    public void run() {
        while (!ended && problem.isEmpty()) {
            try (RespClient client = new RespClient(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
                int connected = port;
                while (!ended && problem.isEmpty() && port == connected) {
                    append(client);
                    LockSupport.parkNanos(pauseNanos);
                }
            } catch (IOException killed) {
                LockSupport.parkNanos(RETRY_NANOS);
            }
        }
    }

    private void append(RespClient client) throws IOException {
        long next = acknowledged.get();
        String conflict = "-CONFLICT expected " + next + " actual ";
        String reply = client.call("CARAVAN.APPEND", name, "IFSEQ", "" + next, "v" + next);
        if (reply.equals(":" + next) || reply.startsWith(conflict + (next + 1))) {
            // The conflict means that the previous attempt succeeded but its reply was lost.
            acknowledged.set(next + 1);
        } else if (reply.startsWith(conflict)) {
            wentBack(next, Long.parseLong(reply.substring(conflict.length()).split(" ", 2)[0]), reply);
        } else if (reply.startsWith("-RELOCATED 127.0.0.1:")) {
            port = Integer.parseInt(reply.split("[: ]", -1)[2]);
        } else if (!reply.startsWith("-MOVING ") && !reply.contains("stopping")) {
            problem = reply;
        }
    }

    private void wentBack(long from, long to, String reply) {
        long mayLose = mayLoseFrom;
        if (mayLose != KEEP_ALL && mayLose <= to && to < from) {
            acknowledged.set(to);
        } else {
            problem = reply + ", where nothing may be lost " + (mayLose == KEEP_ALL ? "" : "before " + mayLose);
        }
    }

    @Override
    public void close() throws InterruptedException {
        ended = true;
        join();
    }
}
