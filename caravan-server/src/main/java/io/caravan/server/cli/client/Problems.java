package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Set;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/** The client library's exceptions as what a person can act on. */
final class Problems {
    /** Prefixes of errors that say that the document is not what the command takes it for. */
    private static final Set<String> OTHER_STATES = Set.of(
            "CONFLICT",
            "TRIMMED",
            "BEYOND",
            "CLOSED",
            "GONE",
            "FORKED",
            "CHANGED",
            "NOTFOUND",
            "DELETED",
            "BACKINTIME");

    /** What a server answers between being told to stop and closing the connection. */
    private static final String STOPPING = "ERR the server is stopping";

    private static final String HOW_TO_GIVE_THE_PASSWORD =
            "give the password in the environment variable CARAVAN_PASSWORD or with --password-file FILE,"
                    + " and the user with --user NAME if the server knows several";

    private Problems() {}

    /**
     * What to throw instead.
     *
     * @param timeoutSeconds how long the server had to answer
     */
    static RuntimeException translate(JedisException problem, HostPort server, long timeoutSeconds) {
        if (problem instanceof JedisConnectionException) {
            return new ConnectionLostException(connection(problem, server, timeoutSeconds), problem);
        }
        return STOPPING.equals(problem.getMessage())
                ? new ConnectionLostException(address(server) + " is stopping", problem)
                : answer(problem);
    }

    private static String connection(JedisException problem, HostPort server, long timeoutSeconds) {
        String address = address(server);
        if (hasCause(problem, UnknownHostException.class)) {
            return "the host '" + server.host() + "' is not known";
        }
        if (hasCause(problem, ConnectException.class)) {
            return "no server answers at " + address + "; start one with 'caravan serve --resp " + address
                    + "', or say where it is with --server HOST:PORT";
        }
        if (hasCause(problem, SocketTimeoutException.class)) {
            return address + " has not answered for " + timeoutSeconds
                    + " s; is it a Caravan server? if it is only slow, wait longer with --timeout";
        }
        if (hasCause(problem, SSLException.class)) {
            return "TLS with " + address + " failed: " + deepest(problem).getMessage()
                    + "; does the server speak TLS there, and does --tls-ca name the authority of its certificate?";
        }
        return "the connection to " + address + " was lost: " + deepest(problem).getMessage();
    }

    /** As {@link HostPort#parse} reads it. */
    static String address(HostPort server) {
        return (server.host().contains(":") ? "[" + server.host() + "]" : server.host()) + ":" + server.port();
    }

    private static ClientException answer(JedisException problem) {
        String text = String.valueOf(problem.getMessage());
        int space = text.indexOf(' ');
        String prefix = space < 0 ? text : text.substring(0, space);
        String message = text.substring(space + 1);
        if (OTHER_STATES.contains(prefix)) {
            return ClientException.otherState(
                    prefix.equals("CONFLICT") ? "the next sequence is another one: " + message : message, problem);
        }
        return ClientException.failed(
                switch (prefix) {
                    case "NOAUTH" -> "the server wants to know who you are: " + HOW_TO_GIVE_THE_PASSWORD;
                    case "WRONGPASS" -> "the server does not know this user and password: " + HOW_TO_GIVE_THE_PASSWORD;
                    case "ERR", "ARCHIVE" -> message;
                    default -> text;
                },
                problem);
    }

    private static boolean hasCause(Throwable problem, Class<? extends Throwable> type) {
        return chain(problem).anyMatch(type::isInstance);
    }

    private static Throwable deepest(Throwable problem) {
        return chain(problem).reduce(problem, (first, second) -> second);
    }

    /** The problem, its causes, and what was tried before it: each address of a host is. */
    private static Stream<Throwable> chain(Throwable problem) {
        Stream<Throwable> tried = Stream.of(problem.getSuppressed()).flatMap(Problems::chain);
        Throwable cause = problem.getCause();
        Stream<Throwable> causes = cause == null ? Stream.empty() : chain(cause);
        return Stream.concat(Stream.of(problem), Stream.concat(tried, causes));
    }
}
