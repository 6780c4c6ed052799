package io.caravan.server.protocol.resp;

import io.caravan.server.archive.push.Archiver;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.document.DocumentService;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.RespLimits;
import io.caravan.server.protocol.resp.commands.ArchiveCommands;
import io.caravan.server.protocol.resp.commands.AuthCommands;
import io.caravan.server.protocol.resp.commands.ClientCommands;
import io.caravan.server.protocol.resp.commands.CommandCommand;
import io.caravan.server.protocol.resp.commands.ConnectionCommands;
import io.caravan.server.protocol.resp.commands.ExpiryCommands;
import io.caravan.server.protocol.resp.commands.ExtensionCommands;
import io.caravan.server.protocol.resp.commands.InspectionCommands;
import io.caravan.server.protocol.resp.commands.KeyCommands;
import io.caravan.server.protocol.resp.commands.ListCommands;
import io.caravan.server.protocol.resp.commands.PersistenceCommands;
import io.caravan.server.protocol.resp.commands.RestoreCommands;
import io.caravan.server.protocol.resp.commands.ScanCommands;
import io.caravan.server.protocol.resp.commands.ServerCommands;
import io.caravan.server.protocol.resp.commands.ServerStatus;
import io.caravan.server.protocol.resp.commands.SlowLog;
import io.caravan.server.protocol.resp.commands.TransactionCommands;
import io.caravan.server.protocol.resp.dispatch.ClientRegistry;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandTable;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.protocol.resp.dispatch.Transaction.Budget;
import io.caravan.server.protocol.resp.reply.CompletionInbox;
import io.caravan.server.security.Authenticator;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** What all RESP connections share. */
public final class RespService {
    private final DocumentService documents;
    private final Executor readers;
    private final RespLimits limits;
    private final Authenticator authenticator;
    private final CommandTable table = new CommandTable();
    private final ClientRegistry clients = new ClientRegistry();
    private final ServerMetrics metrics;
    private final SlowLog slowLog;
    private final Map<EventLoop, CompletionInbox> inboxes = new ConcurrentHashMap<>();

    public RespService(
            DocumentService documents,
            @Nullable Archiver archiver,
            @Nullable RestoreService restores,
            ServerStatus status,
            Executor readers,
            RespLimits limits,
            Authenticator authenticator,
            ServerMetrics metrics) {
        this.documents = documents;
        this.readers = readers;
        this.limits = limits;
        this.authenticator = authenticator;
        this.metrics = metrics;
        InstantSource clock = InstantSource.system();
        this.slowLog = new SlowLog(clock);
        metrics.connections("resp", () -> clients.all().size());
        List.of(
                        new ListCommands(documents).all(),
                        new KeyCommands(documents).all(),
                        new ScanCommands(documents).all(),
                        new ExpiryCommands(documents, clock).all(),
                        new ExtensionCommands(documents).all(),
                        new ArchiveCommands(archiver).all(),
                        new RestoreCommands(restores).all(),
                        new TransactionCommands(limits, Budget.forProcess(limits.maxRequestBytes())).all(),
                        new PersistenceCommands(documents, status, readers, clock).all(),
                        new ServerCommands(status).all(),
                        new ClientCommands(clients).all(),
                        new InspectionCommands(documents).all(),
                        slowLog.all(),
                        AuthCommands.all(),
                        ConnectionCommands.all(),
                        new CommandCommand(table::all).all())
                .forEach(table::add);
    }

    DocumentService documents() {
        return documents;
    }

    /** Where reads run, which may wait. */
    Executor readers() {
        return readers;
    }

    RespLimits limits() {
        return limits;
    }

    public CommandTable table() {
        return table;
    }

    CompletionInbox inbox(EventLoop loop) {
        return inboxes.computeIfAbsent(loop, CompletionInbox::new);
    }

    /** A session for a new connection, known to others until {@link #forget}. */
    Session newSession(Channel channel) {
        Session session = new Session(clients.newId(), channel.remoteAddress(), channel.localAddress(), authenticator);
        clients.add(session, channel::close);
        return session;
    }

    /** Watches a request from now on. */
    RequestWatch watch(Session session, @Nullable CommandSpec spec, @Nullable Command command) {
        return new RequestWatch(metrics, slowLog, session, spec, command);
    }

    void forget(Session session) {
        clients.remove(session);
    }
}
