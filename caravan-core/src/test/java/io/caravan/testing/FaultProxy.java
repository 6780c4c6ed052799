package io.caravan.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * Stands on loopback before a server and lets through what clients and the server say to each other, or not, as a rule
 * says that may be changed at any time, for the connections that are there as well. There is one rule at a time.
 *
 * <p>It knows of HTTP only where a request begins, and how long it is, which must be by {@code Content-Length}; clients
 * may not send a request before the last one is answered.
 */
public final class FaultProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final InetSocketAddress target;
    private final Set<FaultConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger cut = new AtomicInteger();
    private final AtomicLong forwardedBytes = new AtomicLong();
    private volatile FaultRule rule = new FaultRule.Pass();

    /** Which way bytes go. */
    public enum Way {
        /** From clients to the server. */
        REQUESTS,
        /** From the server to clients. */
        ANSWERS
    }

    /** A proxy before what listens at this port of this host, or will. */
    public static FaultProxy before(int port) throws IOException {
        return new FaultProxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    private FaultProxy(InetSocketAddress target) throws IOException {
        this.target = target;
        this.listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        Daemons.start("fault-proxy", this::accept);
    }

    /** Where clients connect. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Lets everything through, as at the start. */
    public void pass() {
        rule = new FaultRule.Pass();
    }

    /** Resets all connections, and new ones as soon as they are accepted. */
    public void refuse() {
        rule = new FaultRule.Refuse();
        connections.forEach(FaultConnection::reset);
    }

    /** Accepts connections and reads, but forwards nothing; what was swallowed is lost. */
    public void swallow() {
        rule = new FaultRule.Swallow();
    }

    /** Forwards each read only after a while. */
    public void delay(Duration delay) {
        rule = new FaultRule.Delay(delay.toNanos());
    }

    /** Forwards only so many bytes a second, each way of each connection. */
    public void throttle(long bytesPerSecond) {
        rule = new FaultRule.Throttle(bytesPerSecond);
    }

    /** Resets a connection once it has forwarded so many bytes this way from now on, so many times; then lets all through. */
    public void cut(Way way, int times, long afterBytes) {
        rule = new FaultRule.Cut(way, new AtomicInteger(times), afterBytes);
    }

    /** Answers the next requests itself; then lets all through. */
    public void answer(int times, HttpAnswer answer) {
        answer(times, requestLine -> true, answer);
    }

    /** Answers the next requests whose first line, such as {@code GET /a HTTP/1.1}, is such a one; then lets all through. */
    public void answer(int times, Predicate<String> requestLines, HttpAnswer answer) {
        rule = new FaultRule.Answer(new AtomicInteger(times), head -> requestLines.test(head.requestLine()), answer);
    }

    /** The same for requests whose head, from its first line on, is such a one. */
    public void answerHeads(int times, Predicate<String> heads, HttpAnswer answer) {
        rule = new FaultRule.Answer(new AtomicInteger(times), head -> heads.test(head.text()), answer);
    }

    /** Connections that were accepted. */
    public int accepted() {
        return accepted.get();
    }

    /** Requests that it answered itself. */
    public int answered() {
        return answered.get();
    }

    /** Connections that it cut. */
    public int cut() {
        return cut.get();
    }

    /** Bytes that it forwarded, both ways. */
    public long forwardedBytes() {
        return forwardedBytes.get();
    }

    FaultRule rule() {
        return rule;
    }

    void hasAnswered() {
        answered.incrementAndGet();
    }

    void hasCut() {
        cut.incrementAndGet();
    }

    void hasForwarded(int bytes) {
        forwardedBytes.addAndGet(bytes);
    }

    void hasEnded(FaultConnection connection) {
        connections.remove(connection);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                begin(listener.accept());
            } catch (IOException ended) {
                if (!listener.isClosed()) {
                    throw new UncheckedIOException(ended);
                }
            }
        }
    }

    private void begin(Socket client) throws IOException {
        accepted.incrementAndGet();
        Socket server = new Socket();
        FaultConnection connection = new FaultConnection(this, client, server);
        connections.add(connection);
        if (rule instanceof FaultRule.Refuse || listener.isClosed()) {
            connection.reset();
            return;
        }
        try {
            server.connect(target);
        } catch (IOException refused) {
            connection.reset();
            return;
        }
        connection.start();
    }

    /** Listens no more, and resets all connections. */
    @Override
    public void close() throws IOException {
        listener.close();
        connections.forEach(FaultConnection::reset);
    }
}
