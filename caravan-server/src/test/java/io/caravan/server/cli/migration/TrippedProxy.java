package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A proxy that runs an action once, at the first request that contains a word: either before the server receives the
 * request, or before the client receives the reply.
 */
final class TrippedProxy implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    private final AtomicReference<@Nullable Trip> armed = new AtomicReference<>();
    private final Queue<Socket> connections = new ConcurrentLinkedQueue<>();

    /**
     * An action and the request at which the proxy runs it.
     *
     * @param word a word in a request
     * @param responded whether the action runs after the reply of the server
     */
    record Trip(String word, boolean responded, Runnable action) {}

    TrippedProxy(int port) throws IOException {
        daemon(() -> {
            while (true) {
                Socket client = listener.accept();
                daemon(() -> connect(client, port));
            }
        });
    }

    interface Work {
        void run() throws IOException;
    }

    /** Runs work on a daemon thread, which ends when the work's connection is closed. */
    static void daemon(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException closed) {
                // The end of the connection or of the test.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void connect(Socket client, int port) throws IOException {
        try (client) {
            Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
            connections.add(client);
            connections.add(server);
            AtomicReference<@Nullable Trip> waiting = new AtomicReference<>();
            daemon(() -> pump(server, client, response -> run(waiting.getAndSet(null))));
            pump(client, server, request -> look(request, waiting));
        }
    }

    interface Passing {
        void bytes(String bytes);
    }

    /** Forwards bytes from one socket to another, and passes them to {@code passing} first. */
    static void pump(Socket from, Socket to, Passing passing) throws IOException {
        byte[] bytes = new byte[16 * 1024];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(bytes); read > 0; read = in.read(bytes)) {
                passing.bytes(new String(bytes, 0, read, ISO_8859_1));
                out.write(bytes, 0, read);
            }
        }
    }

    private void look(String request, AtomicReference<@Nullable Trip> waiting) {
        Trip trip = armed.get();
        if (trip != null && request.contains(trip.word()) && armed.compareAndSet(trip, null)) {
            if (trip.responded()) {
                waiting.set(trip);
            } else {
                trip.action().run();
            }
        }
    }

    private static void run(@Nullable Trip trip) {
        if (trip != null) {
            trip.action().run();
        }
    }

    void arm(Trip trip) {
        armed.set(trip);
    }

    void disarm() {
        armed.set(null);
    }

    /** Closes all connections of the proxy. */
    void cut() {
        connections.forEach(connection -> {
            try {
                connection.close();
            } catch (IOException alreadyGone) {
                // The connection is already closed.
            }
        });
        connections.clear();
    }

    String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
