package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

/** A fake Durable Streams server that sends one prepared response, byte for byte, over each connection. */
final class FakeStreams implements AutoCloseable {
    private final ServerSocket server;
    private final Function<String, Response> responses;
    private final ExecutorService threads = Executors.newCachedThreadPool(new DefaultThreadFactory("fake", true));
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    /** The method and target of each request, and its {@code Authorization} header, if any. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    /**
     * A prepared response.
     *
     * @param hangs whether the connection stays open after it
     */
    record Response(String bytes, boolean hangs) {
        /** Returns a response with the correct content length. Each line of {@code headers} ends with CRLF. */
        static Response of(String headers, String body) {
            return of(200, headers, body);
        }

        static Response of(int status, String headers, String body) {
            return cut(status, headers, body, body.length());
        }

        /** Returns a response whose content length may exceed the length of the body. */
        static Response cut(int status, String headers, String body, int length) {
            return new Response(head(status, headers, length) + body, false);
        }

        /** Returns a response of these chunks, which is cut off after them unless it is whole. */
        static Response chunked(String headers, List<String> chunks, boolean whole) {
            StringBuilder bytes = new StringBuilder(
                    "HTTP/1.1 200 X\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n" + headers + "\r\n");
            chunks.forEach(chunk -> bytes.append(Integer.toHexString(chunk.length()))
                    .append("\r\n")
                    .append(chunk)
                    .append("\r\n"));
            return new Response(bytes + (whole ? "0\r\n\r\n" : ""), false);
        }

        static Response hanging(String headers, String body, int length) {
            return new Response(head(200, headers, length) + body, true);
        }

        private static String head(int status, String headers, int length) {
            return "HTTP/1.1 " + status + " X\r\nConnection: close\r\nContent-Length: " + length + "\r\n" + headers
                    + "\r\n";
        }
    }

    /** Starts a server whose responses depend on the method and the target. */
    FakeStreams(Function<String, Response> responses) throws IOException {
        this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        this.responses = responses;
        threads.execute(this::accept);
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + server.getLocalPort() + "/streams");
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = server.accept();
                open.add(socket);
                threads.execute(() -> serve(socket));
            }
        } catch (IOException closed) {
            // The test is over.
        }
    }

    private void serve(Socket socket) {
        try {
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
            String first = in.readLine();
            if (first == null) {
                return;
            }
            String token = "";
            for (String line = first; !line.isEmpty(); line = in.readLine()) {
                token = line.startsWith("Authorization:") ? " " + line : token;
            }
            String request = first.replace(" HTTP/1.1", "") + token;
            requests.add(request);
            Response response = responses.apply(request);
            OutputStream out = socket.getOutputStream();
            out.write(response.bytes().getBytes(ISO_8859_1));
            out.flush();
            if (!response.hangs()) {
                socket.close();
            }
        } catch (IOException gone) {
            // The client has closed the connection.
        }
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException closing) {
            throw new AssertionError(closing);
        }
        threads.shutdownNow();
    }
}
