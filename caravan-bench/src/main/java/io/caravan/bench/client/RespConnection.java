package io.caravan.bench.client;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A RESP2 connection, over which a benchmark or test client sends commands and receives replies. */
public final class RespConnection implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 * 1024;
    private static final byte[] LINE_END = {'\r', '\n'};
    private static final byte[] NULL = {};
    private static final int CONNECT_MILLIS = 5_000;

    /**
     * A reply from the server. Exactly one component is set, or none if the reply is null. In {@code values}, a number
     * is represented by its digits, and a null by an empty array.
     */
    public record Reply(
            @Nullable String text,
            @Nullable String error,
            @Nullable List<byte[]> values) {
        private static Reply text(String text) {
            return new Reply(text, null, null);
        }

        /** Describes the reply, for failure reports. */
        public String words() {
            return values != null ? values.size() + " values" : String.valueOf(error != null ? error : text);
        }
    }

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    public RespConnection(InetSocketAddress server) throws IOException {
        socket = new Socket();
        try {
            socket.connect(server, CONNECT_MILLIS);
            socket.setTcpNoDelay(true);
            in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
            out = new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
        } catch (IOException problem) {
            socket.close();
            throw problem;
        }
    }

    public void send(byte[]... words) throws IOException {
        write(words);
        flush();
    }

    /** Buffers a command until {@link #flush()}. */
    public void write(byte[]... words) throws IOException {
        header('*', words.length);
        for (byte[] word : words) {
            header('$', word.length);
            out.write(word);
            out.write(LINE_END);
        }
    }

    public void flush() throws IOException {
        out.flush();
    }

    private void header(char kind, int count) throws IOException {
        out.write(ascii(kind + Integer.toString(count)));
        out.write(LINE_END);
    }

    /** Encodes a request argument in ASCII. */
    public static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns the next reply, or null if the server has closed the connection. */
    public @Nullable Reply receive() throws IOException {
        int kind = in.read();
        return kind < 0 ? null : reply((char) kind, line());
    }

    /** Returns the next reply. Throws an exception if the reply is an error or the connection is closed. */
    public Reply receiveReply() throws IOException {
        Reply reply = receive();
        if (reply == null) {
            throw new EOFException("the server closed the connection");
        }
        if (reply.error() != null) {
            throw new IOException("the server replied: " + reply.error());
        }
        return reply;
    }

    /** Sends a command and waits for its reply, which must not be an error. */
    public Reply call(byte[]... words) throws IOException {
        send(words);
        return receiveReply();
    }

    /** Sends a command and waits for its reply, which must not be an error. */
    public Reply call(String... words) throws IOException {
        return call(Stream.of(words).map(RespConnection::ascii).toArray(byte[][]::new));
    }

    /** Sends a command and returns the string in its reply; empty if the reply is null. */
    public String text(String... words) throws IOException {
        List<byte[]> result = call(words).values();
        return result == null ? "" : new String(result.get(0), StandardCharsets.UTF_8);
    }

    private Reply reply(char kind, String line) throws IOException {
        return switch (kind) {
            case '+', ':' -> Reply.text(line);
            case '-' -> new Reply(null, line, null);
            case '$' -> new Reply(null, null, line.equals("-1") ? null : List.of(bulk(line)));
            case '*' -> new Reply(null, null, line.equals("-1") ? null : array(line));
            default -> throw new IOException("not RESP2: " + kind + line);
        };
    }

    private List<byte[]> array(String count) throws IOException {
        List<byte[]> values = new ArrayList<>();
        for (int left = Integer.parseInt(count); left > 0; left--) {
            values.add(element((char) in.read(), line()));
        }
        return values;
    }

    private byte[] element(char kind, String line) throws IOException {
        return switch (kind) {
            case ':' -> ascii(line);
            case '$' -> line.equals("-1") ? NULL : bulk(line);
            default -> throw new IOException("expected an array of strings and numbers, but found " + kind + line);
        };
    }

    private byte[] bulk(String length) throws IOException {
        int expected = Integer.parseInt(length);
        byte[] bytes = in.readNBytes(expected);
        if (bytes.length < expected || in.read() < 0 || in.read() < 0) {
            throw new EOFException("the connection ended within a reply");
        }
        return bytes;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\r'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("the connection ended within a reply");
            }
            line.append((char) next);
        }
        in.read();
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
