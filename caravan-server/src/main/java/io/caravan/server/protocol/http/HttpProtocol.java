package io.caravan.server.protocol.http;

import io.caravan.CaravanException;
import io.caravan.OutOfSpaceException;
import io.caravan.server.archive.push.ArchiveStatus;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.backup.Backups;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.config.HostPort;
import io.caravan.server.config.Setting;
import io.caravan.server.document.DocumentService;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.WireProtocol;
import io.caravan.server.protocol.http.Routes.Route;
import io.caravan.server.security.Authenticator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Implements HTTP for a listener. Serves health pages from the start, and documents after {@link #serve}. */
public final class HttpProtocol implements WireProtocol {
    private static final String TOO_MANY_CONNECTIONS = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
            + "Content-Type: " + Problem.CONTENT_TYPE + "\r\nContent-Length: ";

    /** Longer than the minute after which proxies usually close idle connections, so that the proxy closes first. */
    private static final Duration IDLE_TIMEOUT = Duration.ofMinutes(2);

    private static final String NAME = "http";

    final HttpConfig config;
    final int maxBodyBytes;
    final Authenticator authenticator;
    /** Whether clients need a token. */
    final boolean authenticated;

    final @Nullable Cluster cluster;
    private volatile @Nullable Services served;
    volatile boolean draining;
    final ServerMetrics metrics;
    private final Map<String, ServerMetrics.Operation> operations = new ConcurrentHashMap<>();

    final Origins origins;
    final List<Route> routes;
    final Executor readers;
    /** The reads that event streams can join, by position. */
    final ConcurrentMap<EventStream.SharedRead.Position, EventStream.SharedRead> sharedReads =
            new ConcurrentHashMap<>();

    final JsonBody json;
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    /**
     * The services that the endpoints use after the store has been opened.
     *
     * @param archiver null if documents are not archived
     * @param restores null if documents cannot be restored from an archive
     * @param otherClients the connections of other protocols
     * @param settings the current settings of the server, for operators
     */
    public record Services(
            DocumentService documents,
            @Nullable Archiver archiver,
            @Nullable RestoreService restores,
            Backups backups,
            Supplier<Stream<ClientInfo>> otherClients,
            List<Setting> settings) {
        public Services {
            settings = List.copyOf(settings);
        }
    }

    /**
     * Creates the protocol, which serves no documents until {@link #serve} is called.
     *
     * @param cluster null if the server is not part of a cluster
     * @param readers runs reads, and other tasks that may block
     * @param routes creates the routes of this protocol
     */
    public HttpProtocol(
            HttpConfig config,
            Authenticator authenticator,
            ServerMetrics metrics,
            @Nullable Cluster cluster,
            Executor readers,
            Function<HttpProtocol, List<Route>> routes) {
        this.config = config;
        this.maxBodyBytes = config.maxBodyBytes();
        this.authenticator = authenticator;
        this.authenticated = authenticator.required();
        this.cluster = cluster;
        this.metrics = metrics;
        this.readers = readers;
        this.json = new JsonBody(config.maxBatchBytes());
        // The Host header of a request that another node forwards contains the address of that node.
        this.origins = new Origins(config, authenticated, name -> cluster != null && cluster.hasHttpName(name));
        metrics.connections(NAME, connections::size);
        this.routes = routes.apply(this);
    }

    @Override
    public Connection connect(Channel channel, ConnectionMemory memory) {
        connections.add(channel);
        HttpConnection connection = new HttpConnection(channel, this, memory);
        channel.pipeline().addLast(connection.decoder, new HttpConnection.Encoder(), connection);
        return connection;
    }

    @Override
    public Duration idleTimeout() {
        return IDLE_TIMEOUT;
    }

    @Override
    public ByteBuf tooManyConnections() {
        byte[] body = Problem.unavailable("too_many_connections", "the server has reached its limit of connections")
                .response()
                .body;
        return Unpooled.wrappedBuffer(
                (TOO_MANY_CONNECTIONS + body.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII), body);
    }

    public void serve(Services opened) {
        served = opened;
    }

    public Stream<ClientInfo> clients() {
        return connections.stream().map(channel -> {
            HttpConnection connection = channel.pipeline().get(HttpConnection.class);
            long openNanos = connection == null ? 0 : System.nanoTime() - connection.openedNanos;
            String address = HostPort.format(channel.remoteAddress());
            return new ClientInfo(NAME, address, "", "", "", TimeUnit.NANOSECONDS.toSeconds(openNanos));
        });
    }

    /** Starts to reject every request, because the server is stopping. */
    public void drain() {
        draining = true;
    }

    boolean serves() {
        return served != null && !draining;
    }

    @Nullable
    ArchiveStatus archive() {
        Services opened = served;
        return opened == null || opened.archiver() == null
                ? null
                : opened.archiver().status();
    }

    /** Returns the services. Throws {@link Problem} if the store is not open yet, or the server is stopping. */
    Services served() {
        Services opened = served;
        if (opened == null || draining) {
            throw notServing();
        }
        return opened;
    }

    private Problem notServing() {
        return draining
                ? Problem.unavailable("draining", "the server is stopping")
                : Problem.unavailable("recovering", "the store is being opened");
    }

    /**
     * Returns the reason why the server is not ready, or null if it is ready. With {@code inFull}, the reason includes
     * the message of the store, which may contain file names.
     */
    @Nullable
    Problem problem(boolean inFull) {
        Services opened = served;
        if (opened == null && !draining && cluster != null) {
            // The leader serves the documents instead of this server.
            return cluster.leader().isPresent() ? null : Problem.noLeader();
        }
        if (opened == null || draining) {
            return notServing();
        }
        CaravanException problem = opened.documents().problem();
        if (problem == null) {
            return null;
        }
        boolean full = problem instanceof OutOfSpaceException;
        String brief = full ? "the store has no space" : "the store has failed; see the server's log";
        return Problem.unavailable(
                full ? "out_of_space" : "store_failed", inFull ? String.valueOf(problem.getMessage()) : brief);
    }

    void count(String operation, RequestOutcome outcome, long nanos) {
        operations
                .computeIfAbsent(operation, name -> metrics.operation(NAME, name))
                .count(outcome, nanos);
    }

    static RequestOutcome outcome(int status) {
        return switch (HttpStatusClass.valueOf(status)) {
            case SERVER_ERROR -> RequestOutcome.FAILED;
            case CLIENT_ERROR -> RequestOutcome.REJECTED;
            default -> RequestOutcome.OK;
        };
    }
}
