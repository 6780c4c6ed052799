package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** An HTTP client that sends the given bytes unchanged. */
final class RawClient implements AutoCloseable {
    private static final int TIMEOUT_MILLIS = 20_000;

    private final Socket socket = new Socket();
    private final InputStream in;

    /** A response whose header names are in lower case. */
    record Response(int status, Map<String, String> headers, String body) {}

    RawClient(InetSocketAddress address) throws IOException {
        // Uses a small buffer, so that the server soon notices a client that does not read.
        socket.setReceiveBufferSize(8 * 1024);
        socket.connect(address);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
        in = new BufferedInputStream(socket.getInputStream());
    }

    void send(String bytes) throws IOException {
        socket.getOutputStream().write(bytes.getBytes(ISO_8859_1));
    }

    void finishSending() throws IOException {
        socket.shutdownOutput();
    }

    /** Returns the bytes of a request for this path. */
    static String get(String path) {
        return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    }

    /** Returns the bytes of a request that appends text. */
    static String post(String path, String body) {
        return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: "
                + body.length() + "\r\n\r\n" + body;
    }

    /** Reads a response to a request other than {@code HEAD}. */
    Response read() throws IOException {
        Response head = head();
        return new Response(head.status, head.headers, body(head.headers));
    }

    /** Reads a response up to its body. */
    Response head() throws IOException {
        String status = line();
        Map<String, String> headers = new LinkedHashMap<>();
        for (String header = line(); !header.isEmpty(); header = line()) {
            int colon = header.indexOf(':');
            headers.put(
                    header.substring(0, colon).toLowerCase(Locale.ROOT),
                    header.substring(colon + 1).strip());
        }
        int code = Integer.parseInt(status.split(" ", -1)[1]);
        return new Response(code, headers, "");
    }

    private String body(Map<String, String> headers) throws IOException {
        if (!"chunked".equals(headers.get("transfer-encoding"))) {
            return bytes(Integer.parseInt(headers.getOrDefault("content-length", "0")));
        }
        StringBuilder body = new StringBuilder();
        for (String chunk = chunk(); !chunk.isEmpty(); chunk = chunk()) {
            body.append(chunk);
        }
        return body.toString();
    }

    /** Reads one chunk of a body. The last chunk is empty. */
    String chunk() throws IOException {
        String chunk = bytes(Integer.parseInt(line(), 16));
        line();
        return chunk;
    }

    private String bytes(int length) throws IOException {
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("in a body of " + length);
        }
        return new String(bytes, ISO_8859_1);
    }

    String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("after '" + line + "'");
            }
            line.write(b);
        }
        return line.toString(ISO_8859_1).stripTrailing();
    }

    /** Returns all bytes up to the end of the connection. */
    String rest() throws IOException {
        return new String(in.readAllBytes(), ISO_8859_1);
    }

    /** Waits until the server closes the connection. Returns false if more bytes arrive first. */
    boolean atEnd() throws IOException {
        try {
            return in.read() < 0;
        } catch (SocketException reset) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
