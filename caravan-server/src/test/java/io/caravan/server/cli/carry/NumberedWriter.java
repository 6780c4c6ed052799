package io.caravan.server.cli.carry;

import io.caravan.server.protocol.resp.RespClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Appends numbers to a document, each at the sequence of that number, wherever the document is, until it is ended or finds
 * that something was lost or doubled.
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

    /** A writer that begins at the server of this port; at most so many appends a second, or 0 for as many as it can. */
    NumberedWriter(String name, int port, int perSecond) {
        super("writer");
        this.name = name;
        this.port = port;
        this.pauseNanos = perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
        setDaemon(true);
    }

    /** The number before which all were acknowledged, and are not known to be lost again. */
    long acknowledged() {
        return acknowledged.get();
    }

    /** Where it found the document last. */
    int port() {
        return port;
    }

    /** What it has found to be wrong, or nothing. */
    String problem() {
        return problem;
    }

    /** From this number on a crash may have taken back what was acknowledged: the last ones. */
    void mayLoseFrom(long number) {
        mayLoseFrom = number;
    }

    /** Whatever was and will be acknowledged is kept. */
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
        String answer = client.call("CARAVAN.APPEND", name, "IFSEQ", "" + next, "v" + next);
        if (answer.equals(":" + next) || answer.startsWith(conflict + (next + 1))) {
            // The latter if the answer was lost.
            acknowledged.set(next + 1);
        } else if (answer.startsWith(conflict)) {
            wentBack(next, Long.parseLong(answer.substring(conflict.length()).split(" ", 2)[0]), answer);
        } else if (answer.startsWith("-ELSEWHERE 127.0.0.1:")) {
            port = Integer.parseInt(answer.split("[: ]", -1)[2]);
        } else if (!answer.startsWith("-MOVING ") && !answer.contains("stopping")) {
            problem = answer;
        }
    }

    private void wentBack(long from, long to, String answer) {
        long mayLose = mayLoseFrom;
        if (mayLose != KEEP_ALL && mayLose <= to && to < from) {
            acknowledged.set(to);
        } else {
            problem = answer + ", where nothing may be lost " + (mayLose == KEEP_ALL ? "" : "before " + mayLose);
        }
    }

    @Override
    public void close() throws InterruptedException {
        ended = true;
        join();
    }
}
