package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.KeyValue;

/**
 * A connection to a server. It uses the lowest level of the client library: requests may be sent ahead, and replies are
 * received in the order of the requests. Memory holds only the reply being received. Not thread-safe, except {@link
 * #cut}. After a {@link LostException}, the connection is unusable, because the next reply could belong to any request.
 */
public final class ServerConnection implements AutoCloseable {
    /** Error prefixes for a document that is not in the state that the command expects. */
    private static final Set<String> OTHER_STATES =
            Set.of(("CONFLICT TRIMMED OUTOFRANGE CLOSED GONE FORKED CHANGED NOTFOUND DELETED DIVERGED EXISTS RESTORING"
                            + " TOOLARGE QUOTA MOVING")
                    .split(" "));

    private static final Pattern WAIT = Pattern.compile("try again in ([0-9]{1,12}) ms");
    private static final long DEFAULT_WAIT_MILLIS = 1_000;

    /** The suffix of errors within a transaction. It is not shown, because the user has not started a transaction. */
    private static final Pattern STEP_OF_TRANSACTION =
            Pattern.compile(" \\(command [0-9]+ of the transaction, [^()]*\\)$");

    /** The reply of a server that is stopping but has not closed the connection yet. */
    private static final String STOPPING = "ERR the server is stopping";

    private static final String HOW_TO_GIVE_THE_PASSWORD =
            "give the password in the environment variable CARAVAN_PASSWORD or with --password-file FILE,"
                    + " and the user with --user NAME if the server has several";

    /** The maximum wait; its sum with the maximum {@code --timeout} still fits into an int. */
    private static final int LONGEST_MILLIS = (int) TimeUnit.DAYS.toMillis(24);

    private final Connection connection;
    private final HostPort server;
    private final int timeoutMillis;

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

    private ServerConnection(Connection connection, HostPort server, int timeoutMillis) {
        this.connection = connection;
        this.server = server;
        this.timeoutMillis = timeoutMillis;
    }

    static ServerConnection open(HostPort server, JedisClientConfig config) {
        int timeoutMillis = config.getSocketTimeoutMillis();
        HostAndPort address = new HostAndPort(server.host(), server.port());
        Connection connection =
                translated(server, timeoutMillis, () -> new Connection(onlyOnce(address, config), config));
        return new ServerConnection(connection, server, timeoutMillis);
    }

    /**
     * Returns a factory that creates only one socket. After a disconnect, the client library would create another one,
     * and use it without the protocol version and the user of the connection.
     */
    private static JedisSocketFactory onlyOnce(HostAndPort address, JedisClientConfig config) {
        JedisSocketFactory factory = new DefaultJedisSocketFactory(address, config);
        AtomicBoolean made = new AtomicBoolean();
        return () -> {
            if (made.getAndSet(true)) {
                throw new JedisConnectionException("the connection was cut");
            }
            return factory.createSocket();
        };
    }

    public ServerInfo info() {
        return ServerInfo.parse(text("INFO"));
    }

    /** Returns the server's reply, as text, to a command of one or more words. */
    public String text(String... words) {
        return new String((byte[]) Objects.requireNonNull(ask(words)), UTF_8);
    }

    /** Returns the server's reply, which may be null, to a command of one or more words. */
    public @Nullable Object ask(String... words) {
        return call(request(words));
    }

    /** Runs a command that may take days, and returns the reply, which is a map. */
    public Map<String, @Nullable Object> askAtLeisure(String... words) {
        return Objects.requireNonNull(fields(callBlocking(request(words), LONGEST_MILLIS)));
    }

    private static CommandArguments request(String... words) {
        byte[] verb = words[0].getBytes(UTF_8);
        CommandArguments request = new CommandArguments(() -> verb);
        for (int i = 1; i < words.length; i++) {
            request.add(words[i]);
        }
        return request;
    }

    /** Converts a reply that is a map, and decodes byte strings as text. Null remains null. */
    public static @Nullable Map<String, @Nullable Object> fields(@Nullable Object answer) {
        if (answer == null) {
            return null;
        }
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        for (Object field : (List<?>) answer) {
            KeyValue<?, ?> pair = (KeyValue<?, ?>) field;
            fields.put(String.valueOf(decoded(pair.getKey())), decoded(pair.getValue()));
        }
        return fields;
    }

    private static @Nullable Object decoded(@Nullable Object value) {
        return value instanceof byte[] bytes ? new String(bytes, UTF_8) : value;
    }

    /** Sends a request, or buffers it until the next {@link #receive}. */
    void send(CommandArguments request) {
        translated(server, timeoutMillis, () -> {
            connection.sendCommand(request);
            return connection;
        });
    }

    /** Waits for the reply to the oldest pending request; a reply may be null. */
    @Nullable
    Object receive() {
        return translated(server, timeoutMillis, connection::getOne);
    }

    /** Sends a request and waits for its reply. */
    @Nullable
    Object call(CommandArguments request) {
        send(request);
        return receive();
    }

    /** Sends a request like {@link #call}, and waits this much longer for its reply. */
    @Nullable
    Object callBlocking(CommandArguments request, int blockMillis) {
        int waitMillis = blockMillis + timeoutMillis;
        return translated(server, waitMillis, () -> {
            connection.setSoTimeout(waitMillis);
            connection.sendCommand(request);
            Object answer = connection.getOne();
            connection.setSoTimeout(timeoutMillis);
            return answer;
        });
    }

    private static <T extends @Nullable Object> T translated(HostPort server, int waitMillis, Supplier<T> action) {
        try {
            return action.get();
        } catch (JedisException problem) {
            throw translate(problem, server, TimeUnit.MILLISECONDS.toSeconds(waitMillis));
        }
    }

    /** Disconnects; callable from any thread. A thread that waits for a reply gets an exception. */
    public void cut() {
        try {
            connection.forceDisconnect();
        } catch (IOException alreadyGone) {
            // The connection is closed, as intended.
        }
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (JedisException alreadyGone) {
            // The caller already got an exception.
        }
    }

    /**
     * Translates an exception of the client library into one whose message states the remedy.
     *
     * @param timeoutSeconds the time that the server had to reply
     */
    private static RuntimeException translate(JedisException problem, HostPort server, long timeoutSeconds) {
        if (problem instanceof JedisConnectionException) {
            return new LostException(connection(problem, server, timeoutSeconds), problem);
        }
        return STOPPING.equals(problem.getMessage())
                ? new LostException(server + " is stopping", problem)
                : answer(problem);
    }

    private static String connection(JedisException problem, HostPort server, long timeoutSeconds) {
        if (hasCause(problem, UnknownHostException.class)) {
            return "the host '" + server.host() + "' is not known";
        }
        if (hasCause(problem, ConnectException.class)) {
            return "no server answers at " + server + "; start one with 'caravan serve --resp " + server
                    + "', or say where it is with --server HOST:PORT";
        }
        if (hasCause(problem, SocketTimeoutException.class)) {
            return server + " has not answered for " + timeoutSeconds
                    + " s; is it a Caravan server? if it is just slow, raise --timeout";
        }
        if (hasCause(problem, SSLException.class)) {
            return "TLS with " + server + " failed: " + deepest(problem).getMessage()
                    + "; does the server speak TLS there, and does --tls-ca name the authority of its certificate?";
        }
        if (chain(problem).anyMatch(each -> String.valueOf(each.getMessage()).startsWith("Unknown reply: H"))) {
            return server + " speaks HTTP, not RESP; give the RESP address, 127.0.0.1:6380 by default";
        }
        return "the connection to " + server + " was lost: " + deepest(problem).getMessage();
    }

    private static ClientException answer(JedisException problem) {
        String text = STEP_OF_TRANSACTION
                .matcher(String.valueOf(problem.getMessage()))
                .replaceFirst("");
        int space = text.indexOf(' ');
        String prefix = space < 0 ? text : text.substring(0, space);
        String message = text.substring(space + 1);
        if (prefix.equals("RELOCATED")) {
            return ClientException.moved(message.substring(message.indexOf(' ') + 1));
        }
        if (prefix.equals("MOVED")) {
            String host = message.substring(message.indexOf(' ') + 1);
            return ClientException.failed(
                    "another host of the cluster leads the document's group: ask there, with --server " + host,
                    problem);
        }
        if (prefix.equals("RATELIMITED")) {
            return ClientException.tooFast(message, waitMillis(message));
        }
        if (OTHER_STATES.contains(prefix)) {
            return ClientException.otherState(
                    prefix.equals("CONFLICT") ? "the next sequence is another one: " + message : message, problem);
        }
        return ClientException.failed(
                switch (prefix) {
                    case "NOAUTH" -> "the server requires a password: " + HOW_TO_GIVE_THE_PASSWORD;
                    case "WRONGPASS" -> "the server does not know this user and password: " + HOW_TO_GIVE_THE_PASSWORD;
                    case "ERR", "ARCHIVE", "BACKUP" -> message;
                    default -> text;
                },
                problem);
    }

    private static long waitMillis(String refusal) {
        Matcher wait = WAIT.matcher(refusal);
        return wait.find() ? Long.parseLong(wait.group(1)) : DEFAULT_WAIT_MILLIS;
    }

    private static boolean hasCause(Throwable problem, Class<? extends Throwable> type) {
        return chain(problem).anyMatch(type::isInstance);
    }

    private static Throwable deepest(Throwable problem) {
        return chain(problem).reduce(problem, (first, second) -> second);
    }

    /**
     * Returns the problem, its causes, and the problems of earlier attempts: each address of a host is tried in turn.
     */
    private static Stream<Throwable> chain(Throwable problem) {
        Stream<Throwable> tried = Stream.of(problem.getSuppressed()).flatMap(ServerConnection::chain);
        Throwable cause = problem.getCause();
        Stream<Throwable> causes = cause == null ? Stream.empty() : chain(cause);
        return Stream.concat(Stream.of(problem), Stream.concat(tried, causes));
    }
}
