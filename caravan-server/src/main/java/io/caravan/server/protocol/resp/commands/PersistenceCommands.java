package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.NONE;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.generic;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.server;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.document.DocumentService;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandSpec.Access;
import io.caravan.server.protocol.resp.dispatch.Session;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commands that request checkpoints and report durability. Acknowledged writes are durable without these commands.
 */
public final class PersistenceCommands {
    private static final Logger LOG = LoggerFactory.getLogger(PersistenceCommands.class);

    private final DocumentService documents;
    private final ServerStatus status;
    private final Executor readers;
    private final InstantSource clock;
    private final AtomicBoolean saving = new AtomicBoolean();
    private volatile long lastSaveMillis;

    public PersistenceCommands(DocumentService documents, ServerStatus status, Executor readers, InstantSource clock) {
        this.documents = documents;
        this.status = status;
        this.readers = readers;
        this.clock = clock;
        this.lastSaveMillis = clock.millis();
    }

    public List<CommandSpec> all() {
        return List.of(
                server("SAVE", 1, NONE, "", "Publishes a checkpoint, and replies when it is published.")
                        .access(Access.ADMIN)
                        .waiting((session, command) -> {
                            checkpoint();
                            return Reply.OK;
                        }),
                server("BGSAVE", -1, NONE, "", "Publishes a checkpoint in the background.")
                        .access(Access.ADMIN)
                        .immediate(this::saveInBackground),
                server("LASTSAVE", 1, NONE, "fast", "Returns when SAVE or BGSAVE last finished, or the server started.")
                        .immediate((session, command) -> new Reply.Number(lastSaveMillis / 1000)),
                generic(
                                "WAIT",
                                3,
                                NONE,
                                "",
                                "Returns the number of replicas with the connection's writes; 0 without a cluster.")
                        .immediate(this::replicas),
                generic("WAITAOF", 4, NONE, "", "Returns the number of disks with the connection's writes.")
                        .waiting(this::disks));
    }

    private void checkpoint() {
        documents.store().checkpoint();
        lastSaveMillis = clock.millis();
    }

    private Reply saveInBackground(Session session, Command command) {
        if (command.size() > 2 || command.size() == 2 && !command.is(1, "SCHEDULE")) {
            throw CommandException.syntax();
        }
        if (!saving.compareAndSet(false, true)) {
            throw new CommandException("ERR Background save already in progress");
        }
        readers.execute(this::saveNow);
        return new Reply.Simple("Background saving started");
    }

    private void saveNow() {
        try {
            checkpoint();
        } catch (RuntimeException problem) {
            LOG.error("BGSAVE failed to publish a checkpoint", problem);
        } finally {
            saving.set(false);
        }
    }

    /**
     * Replies to {@code WAIT} without waiting. This reply follows the replies to earlier writes, which a quorum has
     * acknowledged by then.
     */
    private Reply replicas(Session session, Command command) {
        command.count(1);
        command.count(2);
        Cluster cluster = status.cluster();
        return new Reply.Number(cluster == null ? 0 : cluster.replicasOfAChange());
    }

    /** Replies to {@code WAITAOF} when earlier writes have reached the durability of the store. */
    private Reply disks(Session session, Command command) {
        long local = command.count(1);
        command.count(2);
        command.count(3);
        if (local > 1) {
            throw new CommandException("ERR value is out of range, must be 0 or 1: there is one server");
        }
        documents.store().flush();
        return Reply.Array.of(status.syncs() ? 1 : 0, 0);
    }
}
