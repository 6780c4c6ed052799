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
 * A proxy on a loopback port in front of a server. It forwards the bytes of clients and the server according to a rule.
 * One rule applies at a time. A new rule may be set at any time, and also applies to existing connections.
 *
 * <p>The only parts of HTTP that the proxy interprets are the start of a request and its length, which must be given by
 * {@code Content-Length}. Clients may not send a request before the response to the previous one.
 */
public final class FaultProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final InetSocketAddress target;
    private final Set<FaultConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger responded = new AtomicInteger();
    private final AtomicInteger cut = new AtomicInteger();
    private final AtomicLong forwardedBytes = new AtomicLong();
    private volatile FaultRule rule = new FaultRule.Pass();

    /** A direction in which bytes are forwarded. */
    public enum Way {
        /** Bytes from clients to the server. */
        REQUESTS,
        /** Bytes from the server to clients. */
        RESPONSES
    }

    /** Starts a proxy in front of a server that listens, or will listen, on this loopback port. */
    public static FaultProxy before(int port) throws IOException {
        return new FaultProxy(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    private FaultProxy(InetSocketAddress target) throws IOException {
        this.target = target;
        this.listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        startDaemon("fault-proxy", this::accept);
    }

    /** Returns the port to which clients connect. */
    public int port() {
        return listener.getLocalPort();
    }

    /** Forwards everything, as the proxy does initially. */
    public void pass() {
        rule = new FaultRule.Pass();
    }

    /** Resets all open connections, and each new connection as soon as it is accepted. */
    public void reject() {
        rule = new FaultRule.Reject();
        connections.forEach(FaultConnection::reset);
    }

    /** Accepts connections and reads from them, but forwards nothing. The bytes that were read are lost. */
    public void swallow() {
        rule = new FaultRule.Swallow();
    }

    /** Delays every chunk of bytes before it is forwarded. */
    public void delay(Duration delay) {
        rule = new FaultRule.Delay(delay.toNanos());
    }

    /** Forwards this many bytes per second in each direction of each connection. */
    public void throttle(long bytesPerSecond) {
        rule = new FaultRule.Throttle(bytesPerSecond);
    }

    /**
     * Resets each of the next {@code times} connections after this many more bytes in this direction. Then forwards
     * everything.
     */
    public void cut(Way way, int times, long afterBytes) {
        rule = new FaultRule.Cut(way, new AtomicInteger(times), afterBytes);
    }

    /** Responds to the next {@code times} requests in place of the server. Then forwards everything. */
    public void response(int times, CannedResponse response) {
        response(times, requestLine -> true, response);
    }

    /** Responds to requests whose first line, such as {@code GET /a HTTP/1.1}, matches. Forwards everything else. */
    public void response(int times, Predicate<String> requestLines, CannedResponse response) {
        rule = new FaultRule.Response(
                new AtomicInteger(times), head -> requestLines.test(head.requestLine()), response);
    }

    /** Responds to requests whose head, including the first line, matches. Forwards everything else. */
    public void responseHeads(int times, Predicate<String> heads, CannedResponse response) {
        rule = new FaultRule.Response(new AtomicInteger(times), head -> heads.test(head.text()), response);
    }

    /** Returns the number of accepted connections. */
    public int accepted() {
        return accepted.get();
    }

    /** Returns the number of requests to which the proxy responded itself. */
    public int responded() {
        return responded.get();
    }

    /** Returns the number of connections that {@link #cut(Way, int, long)} has reset. */
    public int cut() {
        return cut.get();
    }

    /** Returns the number of bytes forwarded, in both directions. */
    public long forwardedBytes() {
        return forwardedBytes.get();
    }

    FaultRule rule() {
        return rule;
    }

    void hasResponded() {
        responded.incrementAndGet();
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

    static void startDaemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
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
        if (rule instanceof FaultRule.Reject || listener.isClosed()) {
            connection.reset();
            return;
        }
        try {
            server.connect(target);
        } catch (IOException rejected) {
            connection.reset();
            return;
        }
        connection.start();
    }

    /** Stops listening and resets all connections. */
    @Override
    public void close() throws IOException {
        listener.close();
        connections.forEach(FaultConnection::reset);
    }
}
