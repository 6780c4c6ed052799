package io.caravan.server.cli.client;

import io.caravan.server.cli.client.ConnectionOptions.Login;
import io.caravan.server.cli.client.ServerConnection.LostException;
import io.caravan.server.cluster.SlotRange;
import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * The address of a server over RESP, and the login. Describes failures of its connections.
 *
 * @param redis whether this is a Redis server, which is addressed in RESP 2
 * @param login the user, null for the default user, and the options that set the login
 * @param password the password, or null if none is given
 * @param tls the socket factory, or null to connect without TLS
 */
public record Endpoint(
        HostPort address,
        boolean redis,
        Login login,
        @Nullable String password,
        int database,
        @Nullable SSLSocketFactory tls,
        int timeoutMillis) {
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

    @Override
    public String toString() {
        return (redis ? "Redis at " : "") + address;
    }

    /**
     * Connects and logs in.
     *
     * @throws LostException if the server cannot be reached, or does not reply in time
     * @throws ClientException if the server rejects the user or the database
     */
    public ServerConnection connect() {
        return ServerConnection.open(this);
    }

    /** Returns another node of the server's cluster, for the same user; the server itself if the node is null. */
    public Endpoint at(@Nullable HostPort node) {
        return node == null ? this : new Endpoint(node, redis, login, password, database, tls, timeoutMillis);
    }

    /**
     * Returns the leaders of all Raft groups of the server's cluster, by the slots of their documents. If the server is
     * not in a cluster, or leads the only group, this is the server itself: the address that it reports may not be
     * reachable from this machine.
     *
     * @throws ClientException if a group has no leader
     */
    public Map<SlotRange, Endpoint> leaders() {
        ServerInfo info;
        try (ServerConnection connection = connect()) {
            info = connection.info();
        }
        Map<SlotRange, Endpoint> leaders = new TreeMap<>();
        info.leaders().forEach((slots, node) -> leaders.put(slots, at(node)));
        boolean itself = leaders.isEmpty()
                || leaders.size() == 1 && info.text("cluster_role").equals("leader");
        return itself ? Map.of(SlotRange.ALL, this) : leaders;
    }

    /** Returns a socket that is connected to the first address of the host that accepts a connection. */
    Socket socket() throws IOException {
        IOException problem = new ConnectException("no address");
        for (InetAddress host : InetAddress.getAllByName(address.host())) {
            Socket socket = new Socket();
            try {
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(timeoutMillis);
                socket.connect(new InetSocketAddress(host, address.port()), timeoutMillis);
                return socket;
            } catch (IOException failed) {
                socket.close();
                failed.addSuppressed(problem);
                problem = failed;
            }
        }
        throw problem;
    }

    /** Returns a socket that uses TLS over this one, or this one if the endpoint has no TLS. */
    Socket secured(Socket socket) throws IOException {
        if (tls == null) {
            return socket;
        }
        SSLSocket secured = (SSLSocket) tls.createSocket(socket, address.host(), address.port(), true);
        SSLParameters parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secured.setSSLParameters(parameters);
        secured.startHandshake();
        return secured;
    }

    /** Converts a connection failure into an exception whose message states the remedy. */
    LostException lost(IOException problem, int waitMillis) {
        return new LostException(message(problem, waitMillis), problem);
    }

    private String message(IOException problem, int waitMillis) {
        String detail = String.valueOf(deepest(problem).getMessage());
        if (problem instanceof UnknownHostException) {
            return "the host '" + address.host() + "' is not known";
        }
        if (problem instanceof ConnectException) {
            return redis
                    ? "no Redis server listens at " + address
                    : "no server listens at " + address + "; start one with 'caravan serve --resp " + address
                            + "', or set the address with " + login.addressOption() + " HOST:PORT";
        }
        if (problem instanceof SocketTimeoutException) {
            return this + " has not replied for " + TimeUnit.MILLISECONDS.toSeconds(waitMillis) + " s; "
                    + (redis ? "" : "is it a Caravan server? ") + "if it is just slow, raise --timeout";
        }
        if (problem instanceof SSLException) {
            return "TLS with " + this + " failed: " + detail + "; does the server use TLS, and does " + login.prefix()
                    + "tls-ca name the authority of its certificate?";
        }
        if (detail.startsWith(Resp.NOT_RESP + "HTTP")) {
            return this + " speaks HTTP, not RESP; set the RESP address, 127.0.0.1:6380 by default";
        }
        if (problem instanceof ProtocolException) {
            return this + " does not speak RESP: " + detail;
        }
        return "the connection to " + this + " was lost: " + detail
                + (redis ? "; once the server is reachable, run the import again, and it continues" : "");
    }

    private static Throwable deepest(Throwable problem) {
        Throwable cause = problem.getCause();
        return cause == null ? problem : deepest(cause);
    }

    RuntimeException rejected(String error) {
        if (error.equals(STOPPING)) {
            return new LostException(this + " is stopping", new IOException(error));
        }
        if (redis) {
            return ClientException.failed(this + " rejects the request: " + error
                    + (error.startsWith("NOAUTH") || error.startsWith("WRONGPASS")
                            ? "; set the password in " + login.ways() + ", and the user in the URL"
                            : ""));
        }
        String text = STEP_OF_TRANSACTION.matcher(error).replaceFirst("");
        int space = text.indexOf(' ');
        String prefix = space < 0 ? text : text.substring(0, space);
        String message = text.substring(space + 1);
        if (OTHER_STATES.contains(prefix)) {
            return ClientException.otherState(
                    prefix.equals("CONFLICT") ? "the next sequence is another one: " + message : message);
        }
        return switch (prefix) {
            case "RELOCATED" ->
                ClientException.of(ClientException.Kind.MOVED, message.substring(message.indexOf(' ') + 1));
            case "RATELIMITED" -> ClientException.tooFast(message, waitMillis(message));
            case "MOVED" -> {
                String leader = message.substring(message.indexOf(' ') + 1);
                yield ClientException.notLeader(
                        "another node leads the document's Raft group: send the request there, with --server " + leader,
                        HostPort.parse(leader));
            }
            case "CLUSTERDOWN" -> ClientException.notLeader(message, null);
            case "NOAUTH" -> ClientException.failed("the server requires a password: " + howToLogIn());
            case "WRONGPASS" ->
                ClientException.failed("the server does not know this user and password: " + howToLogIn());
            case "ERR", "ARCHIVE", "BACKUP" -> ClientException.failed(message);
            default -> ClientException.failed(text);
        };
    }

    private String howToLogIn() {
        return "set the password in " + login.ways() + ", and the user with " + login.prefix()
                + "user NAME if the server has several";
    }

    private static long waitMillis(String rejection) {
        Matcher wait = WAIT.matcher(rejection);
        return wait.find() ? Long.parseLong(wait.group(1)) : DEFAULT_WAIT_MILLIS;
    }
}
