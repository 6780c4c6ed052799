package io.caravan.server.protocol.resp;

import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Prefetch;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.metrics.Statistics;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.WireProtocol;
import io.caravan.server.protocol.resp.BlockingPop.PopQueues;
import io.caravan.server.security.Authenticator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Implements the RESP protocol, and holds the state that all RESP connections share. */
public final class RespProtocol implements WireProtocol {
    final RespLimits limits;
    /** The prefetch for the first attempts of all writes. */
    final Prefetch noPrefetch;

    final DocumentService documents;
    final Executor readers;
    private final Authenticator authenticator;
    private final Map<String, CommandSpec> table = new LinkedHashMap<>();
    /** The commands by their names in upper and lower case. */
    final Map<AsciiString, CommandSpec> spellings = new HashMap<>();

    private final AtomicLong lastSession = new AtomicLong();
    /** The sessions of all open connections, by number. */
    private final ConcurrentNavigableMap<Long, Session> sessions = new ConcurrentSkipListMap<>();

    private final Channels channels = new Channels();
    /** The requests for each command, and those that are malformed or name no command. */
    final Map<CommandSpec, ServerMetrics.Operation> operations = new IdentityHashMap<>();

    final SlowLog slowLog = new SlowLog();
    final @Nullable Cluster cluster;

    /**
     * Creates the protocol. {@code restores} is null if the server has no archive; {@code readers} runs reads, which
     * may wait.
     */
    public RespProtocol(
            RespLimits limits,
            ServerStatus status,
            @Nullable RestoreService restores,
            Executor readers,
            Authenticator authenticator,
            ServerMetrics metrics) {
        this.limits = limits;
        this.noPrefetch = Prefetch.none(limits.maxRequestBytes());
        this.documents = status.documents();
        this.readers = readers;
        this.authenticator = authenticator;
        this.cluster = status.cluster();
        metrics.connections("resp", sessions::size);
        PopQueues pops = new PopQueues();
        metrics.register(Statistics.BLOCKED_POPS, () -> pops::places);
        metrics.register(Statistics.SUBSCRIPTIONS, () -> channels::subscriptions);
        metrics.register(Statistics.SUBSCRIBERS_CLOSED, () -> channels::closed);
        List.of(
                        new ListCommands(documents, readers, limits.maxRequestBytes(), pops).all(),
                        new KeyCommands(documents).all(),
                        new MigrationCommands(documents).all(),
                        new OperatorCommands(status, restores).all(),
                        Subscriber.commands(channels),
                        Transaction.commands(limits),
                        new ServerCommands(status, readers, table).all(),
                        slowLog.all(),
                        cluster == null ? List.<CommandSpec>of() : new ClusterCommands(cluster, documents).all(),
                        new ConnectionCommands(status, sessions.values()).all())
                .forEach(group -> group.forEach(spec -> table.put(spec.name, spec)));
        table.values().forEach(spec -> {
            spellings.put(AsciiString.of(spec.name), spec);
            spellings.put(AsciiString.of(spec.lowerName), spec);
            operations.put(spec, metrics.operation("resp", spec.lowerName));
        });
        operations.put(CommandSpec.UNKNOWN, metrics.operation("resp", "unknown"));
    }

    @Override
    public Connection connect(Channel channel, ConnectionMemory memory) {
        RespHandler handler = new RespHandler(channel, this, memory);
        channel.pipeline().addLast(handler.decoder, handler);
        return handler;
    }

    /** Returns zero, because clients keep connections in pools and do not expect the server to close them. */
    @Override
    public Duration idleTimeout() {
        return Duration.ZERO;
    }

    @Override
    public ByteBuf tooManyConnections() {
        return Unpooled.copiedBuffer("-ERR max number of clients reached\r\n", StandardCharsets.US_ASCII);
    }

    /** Returns all commands by their upper-case names. */
    Map<String, CommandSpec> table() {
        return Collections.unmodifiableMap(table);
    }

    /**
     * Whether this node redirects requests to the leader, or rejects them if there is no leader, even while the server
     * is stopping.
     */
    boolean redirects() {
        return cluster != null && !cluster.leads();
    }

    /** Returns a session for a new connection. Other clients can see the session until {@link #forget}. */
    Session newSession(Channel channel, ReplyQueue replies) {
        Session session = new Session(lastSession.incrementAndGet(), channel, authenticator, channels, replies);
        sessions.put(session.id, session);
        return session;
    }

    /** Returns the open connections, oldest first. */
    public Stream<ClientInfo> clients() {
        return sessions.values().stream().map(ConnectionCommands::info);
    }

    void forget(Session session) {
        sessions.remove(session.id);
    }
}
