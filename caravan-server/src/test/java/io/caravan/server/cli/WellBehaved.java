package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A client that asks for little, one thing after the other, and notes how long the server takes. Between its requests it
 * does what they need of the machine without the server, which tells how busy the machine is.
 */
final class WellBehaved implements AutoCloseable {
    /**
     * It should take a second at most; a busy machine, on which the attackers run too, may take some more. A server that is
     * stopped by its clients stays so for at least twice as long.
     */
    private static final Duration TOO_LONG = Duration.ofSeconds(10);

    /** How much longer a request may take than what it needs of the machine, besides. */
    private static final int CONTROL_FACTOR = 5;

    private static final int TIMEOUT_MILLIS = 60_000;
    private static final byte[] PING = "PING\r\n".getBytes(US_ASCII);
    private static final byte[] PUSH = "RPUSH behaved v\r\n".getBytes(US_ASCII);
    private static final byte[] HEALTH =
            "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".getBytes(US_ASCII);

    private final ServerProcess server;
    private final String secret;
    private final Path control;
    private final ServerSocket echo = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Thread echoThread = new Thread(this::echo, "echo");
    private final Thread thread = new Thread(this::ask, "well-behaved");
    private final AtomicInteger rounds = new AtomicInteger();
    private volatile boolean stopping;
    private volatile long worstNanos;
    private volatile String worst = "";
    private volatile long controlNanos;
    private volatile @Nullable Throwable failure;

    WellBehaved(ServerProcess server, String secret, Path control) throws IOException {
        this.server = server;
        this.secret = secret;
        this.control = control;
        echoThread.setDaemon(true);
        echoThread.start();
        thread.start();
        awaitAnother();
    }

    private interface Request {
        void send() throws IOException;
    }

    private void ask() {
        try (Socket resp = connect(server.port());
                FileChannel file = FileChannel.open(control, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            if (!secret.isEmpty()) {
                exchange(resp, ("AUTH " + secret + "\r\n").getBytes(US_ASCII));
            }
            while (!stopping) {
                note("PING", () -> exchange(resp, PING));
                note("RPUSH", () -> exchange(resp, PUSH));
                note("PING over a new connection", () -> once(server.port(), PING));
                note("/healthz", () -> once(server.httpPort(), HEALTH));
                long start = System.nanoTime();
                once(echo.getLocalPort(), PING);
                file.write(ByteBuffer.wrap(PING), 0);
                file.force(false);
                controlNanos = Math.max(controlNanos, System.nanoTime() - start);
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

    /** Sends a request and reads the first line of its answer. */
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

    private void echo() {
        while (!stopping) {
            try (Socket client = echo.accept()) {
                client.getOutputStream().write(client.getInputStream().readNBytes(PING.length));
            } catch (IOException closed) {
                // It is closed at the end.
            }
        }
    }

    /** Returns when it has been answered since now, or has failed. */
    void awaitAnother() {
        int before = rounds.get();
        // One round may be under way.
        Eventually.await("an answer", () -> rounds.get() > before + 1 || failure != null);
    }

    void assertServed(String attack) {
        assertThat(failure).as("beside %s", attack).isNull();
        System.out.printf(
                "beside %s: %d rounds, at worst %d ms (%s); the machine alone %d ms%n",
                attack, rounds.get(), worstNanos / 1_000_000, worst, controlNanos / 1_000_000);
        assertThat(Duration.ofNanos(worstNanos))
                .as("%s beside %s, while the machine alone took %s", worst, attack, Duration.ofNanos(controlNanos))
                .isLessThan(TOO_LONG.plusNanos(CONTROL_FACTOR * controlNanos));
    }

    @Override
    public void close() throws IOException {
        stopping = true;
        echo.close();
        try {
            thread.join();
            echoThread.join();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
