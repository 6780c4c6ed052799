package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Eventually;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A client that sends a few requests one at a time and fails if the server does not reply. */
final class WellBehaved implements AutoCloseable {
    /**
     * The timeout for a reply. It exceeds the delays of a busy machine, and is below the 30 s after which a server
     * closes the connection of a client that does not read.
     */
    private static final int TIMEOUT_MILLIS = 25_000;

    private static final byte[] PING = "PING\r\n".getBytes(US_ASCII);
    private static final byte[] PUSH = "RPUSH behaved v\r\n".getBytes(US_ASCII);
    private static final byte[] HEALTH =
            "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".getBytes(US_ASCII);

    private final ServerProcess server;
    private final String secret;
    private final Thread thread = new Thread(this::ask, "well-behaved");
    private final AtomicInteger rounds = new AtomicInteger();
    private volatile boolean stopping;
    private volatile long worstNanos;
    private volatile String worst = "";
    private volatile @Nullable Throwable failure;

    WellBehaved(ServerProcess server, String secret) {
        this.server = server;
        this.secret = secret;
        thread.start();
        awaitAnother();
    }

    private interface Request {
        void send() throws IOException;
    }

    private void ask() {
        try (Socket resp = connect(server.port())) {
            if (!secret.isEmpty()) {
                exchange(resp, ("AUTH " + secret + "\r\n").getBytes(US_ASCII));
            }
            while (!stopping) {
                note("PING", () -> exchange(resp, PING));
                note("RPUSH", () -> exchange(resp, PUSH));
                note("PING over a new connection", () -> once(server.port(), PING));
                note("/healthz", () -> once(server.httpPort(), HEALTH));
                rounds.incrementAndGet();
            }
        } catch (IOException | RuntimeException broken) {
            failure = broken;
        }
    }

    private void note(String what, Request request) throws IOException {
        long start = System.nanoTime();
        try {
            request.send();
        } catch (IOException broken) {
            throw new IOException(what + " failed after " + Duration.ofNanos(System.nanoTime() - start), broken);
        }
        long nanos = System.nanoTime() - start;
        if (nanos > worstNanos) {
            worstNanos = nanos;
            worst = what;
        }
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
        return socket;
    }

    private static void once(int port, byte[] request) throws IOException {
        try (Socket socket = connect(port)) {
            exchange(socket, request);
        }
    }

    /** Sends a request and reads the first line of the reply. */
    private static void exchange(Socket socket, byte[] request) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(request);
        InputStream in = socket.getInputStream();
        int b = in.read();
        while (b != '\n') {
            if (b < 0) {
                throw new IOException("the server has closed the connection");
            }
            b = in.read();
        }
    }

    /** Waits until a new round of requests has started and ended, or until the client has failed. */
    void awaitAnother() {
        int before = rounds.get();
        // The current round may have started before the call.
        Eventually.await("a reply", () -> rounds.get() > before + 1 || failure != null);
    }

    void assertServed(String attack) {
        assertThat(failure).as("during %s", attack).isNull();
        System.out.printf(
                "during %s: %d rounds, at worst %d ms (%s)%n", attack, rounds.get(), worstNanos / 1_000_000, worst);
    }

    @Override
    public void close() {
        stopping = true;
        try {
            thread.join();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
