package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.caravan.server.config.HostPort;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A fake leader that sends prepared responses byte for byte and records connections and requests. */
final class FakeLeader implements AutoCloseable {
    /** A value to pass instead of a response, which makes the leader close the connection. */
    static final String CLOSE = "close";
    /** A prefix that delays a response until the other side has ended its output. */
    static final String AT_END_OF_INPUT = "at end: ";

    /** A prefix of the head of a response whose chunks do not end. */
    static final String ENDLESS = "endless: ";

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final BlockingQueue<String> responses = new LinkedBlockingQueue<>();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final AtomicInteger ended = new AtomicInteger();
    /** The method and path of each request that the leader has received. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    FakeLeader() throws IOException {
        start(this::accept);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "fake-leader");
        thread.setDaemon(true);
        thread.start();
    }

    HostPort address() {
        return new HostPort("127.0.0.1", listener.getLocalPort());
    }

    /** Sets the responses to the requests that follow, in this order. */
    void responses(String... bytes) {
        responses.addAll(List.of(bytes));
    }

    int connections() {
        return sockets.size();
    }

    /** Returns the number of connections that the other side has closed. */
    int ended() {
        return ended.get();
    }

    /** Closes the connections, none of which may have a pending request. */
    void closeConnections() throws IOException {
        for (Socket socket : sockets) {
            socket.shutdownOutput();
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listener.accept();
                sockets.add(socket);
                start(() -> serve(socket));
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
            OutputStream out = socket.getOutputStream();
            while (request(in)) {
                String response = responses.poll(20, TimeUnit.SECONDS);
                if (response == null || response.equals(CLOSE)) {
                    return;
                }
                if (response.startsWith(AT_END_OF_INPUT) && in.read() < 0) {
                    response = response.substring(AT_END_OF_INPUT.length());
                }
                boolean endless = response.startsWith(ENDLESS);
                out.write(response.substring(endless ? ENDLESS.length() : 0).getBytes(ISO_8859_1));
                while (endless) {
                    out.write("3\r\none\r\n".getBytes(ISO_8859_1));
                }
            }
            ended.incrementAndGet();
        } catch (IOException | InterruptedException closed) {
            ended.incrementAndGet();
        }
    }

    private boolean request(BufferedReader in) throws IOException {
        String first = in.readLine();
        if (first == null) {
            return false;
        }
        int length = 0;
        for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
            if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                length = Integer.parseInt(line.substring(line.indexOf(':') + 1).strip());
            }
        }
        for (int i = 0; i < length; i++) {
            in.read();
        }
        requests.add(first.substring(0, first.lastIndexOf(' ')));
        return true;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
