package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.common.IoSupplier;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a Caravan or Redis server over RESP. Requests may be sent before earlier replies have arrived;
 * replies are received in the order of the requests. Only the reply being received is in memory. Every length in a
 * reply is checked before memory is allocated, because the server may be hostile. Not thread-safe, except {@link #cut}.
 * After a {@link LostException}, the connection is unusable, because the next reply could belong to any request.
 */
public final class ServerConnection implements AutoCloseable {
    /** The result of {@link #integer} and {@link #array} if the key is not a list. */
    public static final long NO_LIST = Long.MIN_VALUE;

    /** The maximum wait for a reply. The sum of this wait and the maximum {@code --timeout} fits into an int. */
    private static final int LONGEST_MILLIS = (int) TimeUnit.DAYS.toMillis(24);

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int MAX_LINE_BYTES = 64 * 1024;
    /** The maximum length of a byte string, larger than any value or report that a server sends. */
    private static final int MAX_BULK_BYTES = 64 * 1024 * 1024;

    private static final int MAX_DEPTH = 16;
    private static final byte[] LINE_END = {'\r', '\n'};
    /** The maximum number of bytes that are kept if a byte string exceeds the requested length. */
    private static final int KEPT_BYTES = 64;

    private final Endpoint server;
    /** The underlying TCP socket. Closing it does not wait for the server, even with TLS. */
    private final Socket raw;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    /**
     * A byte string in a reply.
     *
     * @param length the length of the string
     * @param bytes the entire string, or its start if it exceeds the requested maximum
     */
    public record Bulk(long length, byte[] bytes) {
        public boolean isWhole() {
            return length == bytes.length;
        }
    }

    /**
     * Thrown if the server cannot be reached, or the connection was lost. A request may or may not have been executed.
     */
    public static final class LostException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        LostException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    public interface Connector {
        ServerConnection connect() throws IOException;
    }

    private ServerConnection(Endpoint server, Socket raw) throws IOException {
        this.server = server;
        this.raw = raw;
        this.socket = server.secured(raw);
        this.in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
        this.out = new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
    }

    /**
     * Connects and logs in.
     *
     * @throws LostException if the server cannot be reached, or does not reply in time
     * @throws ClientException if the server rejects the user or the database
     */
    static ServerConnection open(Endpoint server) {
        try {
            Socket socket = server.connect();
            boolean open = false;
            try {
                ServerConnection connection = new ServerConnection(server, socket);
                connection.logIn();
                open = true;
                return connection;
            } finally {
                if (!open) {
                    socket.close();
                }
            }
        } catch (IOException failed) {
            throw server.lost(failed, server.timeoutMillis());
        }
    }

    private void logIn() {
        String password = server.password();
        String user = server.login().user();
        if (!server.redis()) {
            List<String> login = password == null
                    ? List.of()
                    : List.of("AUTH", Objects.requireNonNullElse(user, "default"), password);
            call("HELLO", "3", login);
            return;
        }
        if (password != null) {
            call("AUTH", user == null ? List.of() : user, password);
        }
        if (server.database() != 0) {
            call("SELECT", server.database());
        }
    }

    public ServerInfo info() {
        return ServerInfo.parse(text("INFO"));
    }

    /** Sends a request, and returns its reply as text. */
    public String text(Object... words) {
        return new String((byte[]) Objects.requireNonNull(call(words)), UTF_8);
    }

    /** Runs a command that may take days, and returns the reply, which is a map. */
    public Map<String, @Nullable Object> callLongRunning(Object... words) {
        return Objects.requireNonNull(fields(callBlocking(LONGEST_MILLIS, words)));
    }

    /** Converts a reply that is a map to named fields, and decodes byte strings as text. Null remains null. */
    public static @Nullable Map<String, @Nullable Object> fields(@Nullable Object reply) {
        if (reply == null) {
            return null;
        }
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        ((Map<?, ?>) reply)
                .forEach((name, value) -> fields.put(
                        String.valueOf(name), value instanceof byte[] bytes ? new String(bytes, UTF_8) : value));
        return fields;
    }

    /**
     * Sends a request, or buffers it until the next wait for a reply.
     *
     * @param words the command and its arguments: strings, byte arrays, numbers, or lists of these
     */
    public void send(Object... words) {
        List<byte[]> all = new ArrayList<>();
        addWords(List.of(words), all);
        exchange(() -> {
            sendHeader('*', all.size());
            for (byte[] word : all) {
                sendHeader('$', word.length);
                out.write(word);
                out.write(LINE_END);
            }
            return true;
        });
    }

    private static void addWords(List<?> words, List<byte[]> to) {
        for (Object word : words) {
            if (word instanceof List<?> more) {
                addWords(more, to);
            } else {
                to.add(word instanceof byte[] bytes ? bytes : word.toString().getBytes(UTF_8));
            }
        }
    }

    private void sendHeader(char type, int count) throws IOException {
        out.write((type + Integer.toString(count)).getBytes(US_ASCII));
        out.write(LINE_END);
    }

    /** Sends a request and waits for its {@link #receive reply}. */
    public @Nullable Object call(Object... words) {
        send(words);
        return receive();
    }

    /** Sends a request as {@link #call} does, but waits {@code blockMillis} longer for the reply. */
    @Nullable
    Object callBlocking(int blockMillis, Object... words) {
        send(words);
        return receive(blockMillis + server.timeoutMillis());
    }

    /**
     * Waits for the reply to the oldest pending request: null, a byte array, a {@link Long}, a {@link Boolean}, a list,
     * or a map whose keys are strings.
     */
    @Nullable
    Object receive() {
        return receive(server.timeoutMillis());
    }

    private @Nullable Object receive(int waitMillis) {
        Object reply;
        try {
            socket.setSoTimeout(waitMillis);
            reply = value(0);
            socket.setSoTimeout(server.timeoutMillis());
        } catch (IOException problem) {
            throw server.lost(problem, waitMillis);
        }
        if (reply instanceof RuntimeException problem) {
            throw problem;
        }
        return reply;
    }

    /** Receives a number; returns {@link #NO_LIST} if the key is not a list. */
    public long integer() {
        return header(':', Long.MAX_VALUE);
    }

    /** Receives a short string. */
    public String status() {
        if (receive() instanceof byte[] text) {
            return new String(text, UTF_8);
        }
        throw unexpected("a text");
    }

    /**
     * Receives the header of an array, whose elements follow.
     *
     * @param most the maximum number of elements
     * @return the number of elements; -1 for a null array; {@link #NO_LIST} if the key is not a list
     */
    public long array(long most) {
        return header('*', most);
    }

    private long header(char expected, long most) {
        return exchange(() -> {
            char type = type();
            String line = line();
            if (type == '-' && line.startsWith("WRONGTYPE")) {
                return NO_LIST;
            }
            if (type != expected) {
                throw type == '-' ? server.rejected(line) : unexpected(expected == ':' ? "a number" : "an array");
            }
            long number = number(line);
            if (number > most) {
                throw ClientException.failed(
                        server + " has replied with " + number + " elements to a request for " + most);
            }
            return number;
        });
    }

    /** Receives a byte string; keeps only its start if it is longer than the maximum. */
    public Bulk bulk(int maxBytes) {
        return exchange(() -> {
            char type = type();
            String line = line();
            long length = type == '$' ? number(line) : -1;
            if (length < 0) {
                throw type == '-' ? server.rejected(line) : unexpected("a string");
            }
            int kept = (int) (length <= maxBytes ? length : Math.min(length, Math.min(KEPT_BYTES, maxBytes)));
            byte[] bytes = exactly(kept);
            for (long left = length - kept; left > 0; ) {
                left -= exactly((int) Math.min(left, BUFFER_BYTES)).length;
            }
            lineEnd();
            return new Bulk(length, bytes);
        });
    }

    private ClientException unexpected(String wanted) {
        return ClientException.failed(server + " has not replied with " + wanted + " as Redis does");
    }

    /** Reads a value; returns an exception for an error, or for a collection that contains one. */
    private @Nullable Object value(int depth) throws IOException {
        char type = type();
        String line = line();
        return switch (type) {
            case '+' -> line.getBytes(UTF_8);
            case '-' -> server.rejected(line);
            case ':' -> number(line);
            case '#' -> line.equals("t");
            case '_' -> null;
            case '$' -> bytes(number(line));
            case '=' -> withoutFormat(bytes(number(line)));
            case '*', '>' -> list(number(line), depth);
            case '%' -> map(number(line), depth);
            default -> throw new ProtocolException(Endpoint.NOT_RESP + type + line);
        };
    }

    private byte @Nullable [] bytes(long length) throws IOException {
        if (length < 0) {
            return null;
        }
        if (length > MAX_BULK_BYTES) {
            throw new ProtocolException("a string of " + length + " bytes exceeds the maximum of " + MAX_BULK_BYTES);
        }
        byte[] bytes = exactly((int) length);
        lineEnd();
        return bytes;
    }

    /** Removes the format prefix, such as {@code txt:}, from a verbatim string. */
    private static byte @Nullable [] withoutFormat(byte @Nullable [] verbatim) {
        return verbatim == null
                ? null
                : new String(verbatim, UTF_8).replaceFirst("^...:", "").getBytes(UTF_8);
    }

    private @Nullable Object list(long count, int depth) throws IOException {
        if (count < 0) {
            return null;
        }
        if (depth == MAX_DEPTH) {
            throw new ProtocolException("a reply has more than " + MAX_DEPTH + " levels");
        }
        List<@Nullable Object> list = new ArrayList<>();
        RuntimeException problem = null;
        for (long i = 0; i < count; i++) {
            Object element = value(depth + 1);
            if (problem == null && element instanceof RuntimeException rejected) {
                problem = rejected;
            }
            list.add(element);
        }
        return problem == null ? list : problem;
    }

    private @Nullable Object map(long count, int depth) throws IOException {
        Object list = list(2 * count, depth);
        if (!(list instanceof List<?> elements)) {
            return list;
        }
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (int i = 0; i < elements.size(); i += 2) {
            Object key = elements.get(i);
            map.put(key instanceof byte[] bytes ? new String(bytes, UTF_8) : String.valueOf(key), elements.get(i + 1));
        }
        return map;
    }

    private char type() throws IOException {
        out.flush();
        return (char) next();
    }

    private int next() throws IOException {
        int next = in.read();
        if (next < 0) {
            throw new EOFException("the server has closed it");
        }
        return next;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = next(); next != '\r'; next = next()) {
            if (line.length() == MAX_LINE_BYTES) {
                throw new ProtocolException("a line of the reply does not end");
            }
            line.append((char) next);
        }
        if (next() != '\n') {
            throw new ProtocolException("a line of the reply does not end");
        }
        return new String(line.toString().getBytes(ISO_8859_1), UTF_8);
    }

    private void lineEnd() throws IOException {
        if (next() != '\r' || next() != '\n') {
            throw new ProtocolException("a string of the reply is longer than announced");
        }
    }

    private byte[] exactly(int length) throws IOException {
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("the server has closed it");
        }
        return bytes;
    }

    private static long number(String line) throws IOException {
        if (!line.matches("[+-]?[0-9]{1,18}")) {
            throw new ProtocolException("'" + line + "' is not a number");
        }
        return Long.parseLong(line);
    }

    private <T> T exchange(IoSupplier<T> exchange) {
        try {
            return exchange.get();
        } catch (IOException problem) {
            throw server.lost(problem, server.timeoutMillis());
        }
    }

    /** Disconnects; callable from any thread. A thread that is waiting for a reply gets an exception. */
    public void cut() {
        close(raw);
    }

    @Override
    public void close() {
        close(socket);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException alreadyGone) {
            // The connection is closed, as intended.
        }
    }
}
