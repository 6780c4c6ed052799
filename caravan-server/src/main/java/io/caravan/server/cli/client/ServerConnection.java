package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.cli.common.IoSupplier;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a Caravan or Redis server over RESP. Requests may be sent before earlier replies have arrived;
 * replies are received in the order of the requests. Only the reply being received is in memory. Not thread-safe,
 * except {@link #cut}.
 * After a {@link LostException}, the connection is unusable, because the next reply could belong to any request.
 */
public final class ServerConnection implements AutoCloseable {
    /** The result of {@link #integer} and {@link #array} if the key is not a list. */
    public static final long NO_LIST = Long.MIN_VALUE;

    /** The maximum wait for a reply. The sum of this wait and the maximum {@code --timeout} fits into an int. */
    private static final int LONGEST_MILLIS = (int) TimeUnit.DAYS.toMillis(24);

    private static final int BUFFER_BYTES = 64 * 1024;
    /** The maximum number of elements of a reply, far more than that of any page. */
    private static final int MAX_REPLY_ELEMENTS = 1 << 22;

    private static final long MAX_REPLY_BYTES = 1L << 30;
    /** The maximum number of bytes that are kept if a byte string exceeds the requested length. */
    private static final int KEPT_BYTES = 64;

    private final Endpoint server;
    /** The underlying TCP socket. Closing it does not wait for the server, even with TLS. */
    private final Socket raw;

    private final Socket socket;
    private final Resp in;
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

    private ServerConnection(Endpoint server, Socket raw) throws IOException {
        this.server = server;
        this.raw = raw;
        this.socket = server.secured(raw);
        this.in = new Resp(
                new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES),
                server::rejected,
                MAX_REPLY_ELEMENTS,
                MAX_REPLY_BYTES);
        this.out = new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
    }

    static ServerConnection open(Endpoint server) {
        try {
            Socket socket = server.socket();
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
        exchange(() -> {
            Resp.write(out, List.of(words));
            return true;
        });
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
            out.flush();
            socket.setSoTimeout(waitMillis);
            reply = in.value();
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
            out.flush();
            char type = (char) in.next();
            String line = in.line();
            if (type == '-' && line.startsWith("WRONGTYPE")) {
                return NO_LIST;
            }
            if (type != expected) {
                throw type == '-' ? server.rejected(line) : unexpected(expected == ':' ? "a number" : "an array");
            }
            long number = Resp.number(line);
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
            out.flush();
            char type = (char) in.next();
            String line = in.line();
            long length = type == '$' ? Resp.number(line) : -1;
            if (length < 0) {
                throw type == '-' ? server.rejected(line) : unexpected("a string");
            }
            int kept = (int) (length <= maxBytes ? length : Math.min(length, Math.min(KEPT_BYTES, maxBytes)));
            byte[] bytes = in.exactly(kept);
            for (long left = length - kept; left > 0; ) {
                left -= in.exactly((int) Math.min(left, BUFFER_BYTES)).length;
            }
            in.lineEnd();
            return new Bulk(length, bytes);
        });
    }

    private ClientException unexpected(String wanted) {
        return ClientException.failed(server + " has not replied with " + wanted + " as Redis does");
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
