package io.caravan.server.protocol.resp;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.cluster.Cluster;
import io.caravan.server.cluster.ClusterNode;
import io.caravan.server.cluster.GroupView;
import io.caravan.server.cluster.Slots;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.Prefetch;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.metrics.ServerMetrics.RequestOutcome;
import io.caravan.server.metrics.Statistics;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.net.Connection;
import io.caravan.server.net.ConnectionMemory;
import io.caravan.server.net.WireProtocol;
import io.caravan.server.protocol.resp.BlockingPop.PopQueues;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
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
import java.util.Set;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Implements the RESP protocol, and holds the state that all RESP connections share. */
public final class RespProtocol implements WireProtocol {
    private static final Set<String> WHILE_LISTENING =
            Set.of("SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "PING", "QUIT", "RESET");

    /** Command groups that concern only the connection or the node. Their commands run on every node. */
    private static final Set<String> OWN_GROUPS = Set.of("connection", "transactions", "pubsub");

    private static final Set<String> OWN = Set.of("INFO", "CONFIG", "MODULE", "COMMAND", "SLOWLOG", "CLUSTER", "ROLE");

    final RespLimits limits;
    /** The prefetch for the first attempts of all writes. */
    final Prefetch noPrefetch;

    final DocumentService documents;
    final Executor readers;
    private final Authenticator authenticator;
    private final Map<String, CommandSpec> table = new LinkedHashMap<>();
    /** The commands by their names in upper and lower case, which need no conversion. */
    private final Map<AsciiString, CommandSpec> spellings = new HashMap<>();

    private final AtomicLong lastSession = new AtomicLong();
    /** The sessions of all open connections, by number. */
    private final ConcurrentNavigableMap<Long, Session> sessions = new ConcurrentSkipListMap<>();

    private final Channels channels = new Channels();
    private final Map<CommandSpec, ServerMetrics.Operation> operations = new IdentityHashMap<>();
    /** The requests that are malformed or name no command. */
    private final ServerMetrics.Operation unknown;

    private final SlowLog slowLog = new SlowLog();
    private final @Nullable Cluster cluster;

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
        this.unknown = metrics.operation("resp", "unknown");
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
        return cluster != null && !cluster.leads();
    }

    /**
     * Returns the error with which to reject the command, or null if it may run; {@code spec} is null if it does not
     * exist.
     */
    Reply.@Nullable Error reject(Session session, @Nullable CommandSpec spec, Command command) {
        if (spec == null) {
            return session.principal == Principal.ANONYMOUS
                    ? new Reply.Error(Session.UNKNOWN_USER)
                    : UnsupportedCommands.unknown(command);
        }
        if (!spec.takes(command.size())) {
            return CommandException.wrongArity(spec.lowerName).reply();
        }
        if (session.onlyListens() && !WHILE_LISTENING.contains(spec.name)) {
            return new Reply.Error("ERR Can't execute '" + spec.lowerName
                    + "': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context; after HELLO 3,"
                    + " all commands are allowed");
        }
        boolean free = session.principal == Principal.ANYONE || spec.free;
        Reply.Error rejection = free ? null : rejectUser(session, spec, command);
        return rejection != null ? rejection : redirect(spec, command);
    }

    private static Reply.@Nullable Error rejectUser(Session session, CommandSpec spec, Command command) {
        if (session.stranger()) {
            return new Reply.Error(Session.UNKNOWN_USER);
        }
        try {
            for (Permission permission : spec.permissions) {
                if (spec.keys == CommandSpec.Keys.NONE) {
                    session.require(permission, spec.lowerName);
                }
                for (byte[] name : spec.keys.of(command)) {
                    session.require(permission, DocumentName.of(name));
                }
            }
            return null;
        } catch (CommandException | IllegalArgumentException rejected) {
            return CommandException.reply(rejected);
        }
    }

    /** Returns an error, such as a redirect to the leader, if the command cannot run on this node; null otherwise. */
    private Reply.@Nullable Error redirect(CommandSpec spec, Command command) {
        if (cluster == null) {
            return null;
        }
        List<byte[]> names = spec.keys.of(command);
        int slot = names.isEmpty() ? -1 : Slots.of(names.get(0));
        for (byte[] name : names) {
            if (Slots.of(name) != slot) {
                return new Reply.Error("CROSSSLOT Keys in request don't hash to the same slot; names with the same"
                        + " {part} in braces do");
            }
        }
        // These two subcommands of CARAVAN.CLUSTER do not need the leader.
        boolean concernsNode = spec.name.equals("CARAVAN.CLUSTER") && (command.is(1, "DRAIN") || command.is(1, "HELP"));
        if (OWN_GROUPS.contains(spec.group) || OWN.contains(spec.name) || concernsNode) {
            return null;
        }
        GroupView group = slot < 0 ? cluster.group() : cluster.group(slot);
        return group == cluster.group() && cluster.leads() ? null : elsewhere(group, slot);
    }

    private static Reply.Error elsewhere(GroupView group, int slot) {
        ClusterNode node = group.leader().orElse(null);
        if (node == null) {
            return new Reply.Error(
                    "CLUSTERDOWN The cluster has no leader: an election is in progress, or the majority of"
                            + " the nodes cannot be reached. Nothing was changed");
        }
        return slot < 0
                ? new Reply.Error("ERR this node is a follower: send the command to the leader, node " + node.id()
                        + ", at " + node.resp())
                : new Reply.Error("MOVED " + slot + " " + node.resp().unbracketed());
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

    /** Counts a request that has been replied to or abandoned. */
    void ended(PendingReply request, RequestOutcome outcome, long nanos) {
        CommandSpec spec = request.spec;
        operations.getOrDefault(spec, unknown).count(outcome, nanos);
        if (nanos >= SlowLog.SLOW_NANOS && spec != null && outcome != RequestOutcome.ABANDONED) {
            slowLog.add(request.session, spec, request.command(), nanos);
        }
    }
}
