package io.caravan.server.protocol.resp;

import io.caravan.server.archive.push.Archiver;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.backup.Backups;
import io.caravan.server.document.DocumentService;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.WireProtocol;
import io.caravan.server.security.Authenticator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collections;
import java.util.HashMap;
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
    private final RespLimits limits;
    private final DocumentService documents;
    private final Executor readers;
    private final Authenticator authenticator;
    private final Map<String, CommandSpec> table = new LinkedHashMap<>();
    /** The commands by their names in upper and lower case, which need no conversion. */
    private final Map<AsciiString, CommandSpec> spellings = new HashMap<>();

    private final AtomicLong lastSession = new AtomicLong();
    /** The sessions of all open connections, by number. */
    private final ConcurrentNavigableMap<Long, Session> sessions = new ConcurrentSkipListMap<>();

    private final Channels channels = new Channels();
    private final ServerMetrics metrics;
    private final SlowLog slowLog;
    private final CommandGate gate;

    /** Creates the protocol. The {@code readers} run reads, which may wait. */
    public RespProtocol(
            RespLimits limits,
            DocumentService documents,
            @Nullable Archiver archiver,
            @Nullable RestoreService restores,
            Backups backups,
            ServerStatus status,
            Executor readers,
            Authenticator authenticator,
            ServerMetrics metrics) {
        this.limits = limits;
        this.documents = documents;
        this.readers = readers;
        this.authenticator = authenticator;
        this.metrics = metrics;
        this.gate = new CommandGate(status.cluster());
        InstantSource clock = InstantSource.system();
        this.slowLog = new SlowLog(clock);
        metrics.connections("resp", sessions::size);
        PopCommands pops = new PopCommands(documents, readers, limits.maxRequestBytes());
        metrics.blockedPops(pops::waiting);
        metrics.subscriptions(channels::subscriptions, channels::closed);
        List.of(
                        new ListCommands(documents).all(),
                        pops.all(),
                        new KeyCommands(documents).all(),
                        new ScanCommands(documents).all(),
                        new ExpiryCommands(documents, clock).all(),
                        new ExtensionCommands(documents).all(),
                        new MigrationCommands(documents).all(),
                        new OperatorCommands(documents, archiver, restores, backups).all(),
                        PubSubCommands.all(channels),
                        Transaction.commands(limits),
                        new ServerCommands(documents, status, readers, clock, table).all(),
                        new ClientCommands(sessions.values()).all(),
                        slowLog.all(),
                        ClusterCommands.all(status.cluster(), documents),
                        new ConnectionCommands(status).all())
                .forEach(group -> group.forEach(spec -> table.put(spec.name(), spec)));
        table.values().forEach(spec -> {
            spellings.put(AsciiString.of(spec.name()), spec);
            spellings.put(AsciiString.of(spec.lowerName()), spec);
        });
    }

    @Override
    public Connection connect(Channel channel, ConnectionMemory memory) {
        RespHandler handler = new RespHandler(channel, this, memory);
        channel.pipeline().addLast(handler.decoder(), handler);
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

    DocumentService documents() {
        return documents;
    }

    Executor readers() {
        return readers;
    }

    RespLimits limits() {
        return limits;
    }

    /** Returns all commands by their upper-case names. */
    public Map<String, CommandSpec> table() {
        return Collections.unmodifiableMap(table);
    }

    @Nullable
    CommandSpec find(Command command) {
        CommandSpec spelled = spellings.get(new AsciiString(command.word(0), false));
        return spelled == null ? table.get(command.keyword(0)) : spelled;
    }

    /**
     * Whether this node redirects requests to the leader, or rejects them if there is no leader, even while the server
     * is stopping.
     */
    boolean redirects() {
        return gate.elsewhere();
    }

    /** Returns the error with which to reject the command, or null if the command may run on this server now. */
    Reply.@Nullable Error reject(Session session, @Nullable CommandSpec spec, Command command) {
        return gate.reject(session, spec, command);
    }

    /** Returns a session for a new connection. Other clients can see the session until {@link #forget}. */
    Session newSession(Channel channel) {
        Session session = new Session(lastSession.incrementAndGet(), channel, authenticator);
        sessions.put(session.id(), session);
        return session;
    }

    /** Returns the open connections, oldest first. */
    public Stream<ClientInfo> clients() {
        return sessions.values().stream().map(ClientCommands::info);
    }

    void forget(Session session) {
        sessions.remove(session.id());
    }

    void enableSubscriptions(Session session, ReplyQueue replies) {
        session.subscriber(new Subscriber(channels, session, replies));
    }

    /** Returns the pending reply to a request that starts now. */
    PendingReply reply(ReplyQueue replies, Session session, @Nullable CommandSpec spec, @Nullable Command command) {
        return new MeasuredReply(replies, metrics, slowLog, session, spec, command);
    }
}
