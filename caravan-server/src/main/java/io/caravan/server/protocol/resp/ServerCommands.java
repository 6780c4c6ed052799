package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.NONE;
import static io.caravan.server.protocol.resp.CommandSpec.generic;
import static io.caravan.server.protocol.resp.CommandSpec.server;

import io.caravan.server.cluster.Cluster;
import io.caravan.server.config.LogLevel;
import io.caravan.server.document.DocumentService;
import io.caravan.server.security.Permission;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commands about the server: {@code INFO}, {@code CONFIG}, {@code MODULE}, and {@code COMMAND}, and the commands
 * that request checkpoints and report durability. Acknowledged writes are durable without a checkpoint.
 */
final class ServerCommands {
    private static final Logger LOG = LoggerFactory.getLogger(ServerCommands.class);
    /** Maximum number of patterns in one {@code CONFIG GET}, which runs on the event loop. */
    private static final int MAX_PATTERNS = 64;

    private final DocumentService documents;
    private final ServerStatus status;
    private final Executor readers;
    private final Map<String, CommandSpec> specs;
    private final AtomicBoolean saving = new AtomicBoolean();
    private volatile long lastSaveMillis = System.currentTimeMillis();

    /** Creates the commands. {@code specs} are all commands, by name in upper case, and may be filled later. */
    ServerCommands(ServerStatus status, Executor readers, Map<String, CommandSpec> specs) {
        this.documents = status.documents();
        this.status = status;
        this.readers = readers;
        this.specs = specs;
    }

    List<CommandSpec> all() {
        Subcommands commands = new Subcommands()
                .add("COUNT", 0, (session, command) -> new Reply.Number(specs.size()))
                .add("LIST", 0, (session, command) -> names())
                .add("INFO [name ...]", 0, Integer.MAX_VALUE, (session, command) -> describe(command))
                .add("DOCS [name ...]", 0, Integer.MAX_VALUE, (session, command) -> document(command));
        return List.of(
                server("SAVE", 1, "", "Publishes a checkpoint, and replies when it is published.")
                        .needs(Permission.ADMIN)
                        .waiting((session, command) -> {
                            checkpoint();
                            return Reply.OK;
                        }),
                server("BGSAVE", -1, "", "Publishes a checkpoint in the background.")
                        .needs(Permission.ADMIN)
                        .immediate(this::saveInBackground),
                server("LASTSAVE", 1, "fast", "Returns when SAVE or BGSAVE last finished, or the server started.")
                        .immediate((session, command) -> new Reply.Number(lastSaveMillis / 1000)),
                generic(
                                "WAIT",
                                3,
                                NONE,
                                "",
                                "Returns the number of replicas with the connection's writes; 0 without a cluster.")
                        .immediate(this::replicas),
                generic("WAITAOF", 4, NONE, "", "Returns the number of disks with the connection's writes.")
                        .waiting(this::disks),
                server("INFO", -1, "", "Describes the server, its clients and the store.")
                        .waiting(this::info),
                server("CONFIG", -2, "", "Returns settings by Redis's names, and sets the log level.")
                        .needs(Permission.ADMIN)
                        .immediate(new Subcommands()
                                .add("GET pattern [pattern ...]", 1, Integer.MAX_VALUE, this::settings)
                                .add("SET loglevel level", 2, Integer.MAX_VALUE, (session, command) -> set(command))),
                server("MODULE", -2, "", "Lists the loaded modules: none.")
                        .immediate(new Subcommands().add("LIST", 0, (session, command) -> Reply.Array.EMPTY)),
                server("COMMAND", -1, "", "Lists the commands.")
                        .immediate((session, command) ->
                                command.size() == 1 ? describe(command) : commands.run(session, command)));
    }

    private void checkpoint() {
        documents.store().checkpoint();
        lastSaveMillis = System.currentTimeMillis();
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

    private static Reply set(Command command) {
        if (command.size() != 4 || !command.is(2, "LOGLEVEL")) {
            throw new CommandException(
                    "ERR only loglevel can be changed while the server runs; other settings are options of"
                            + " the command line");
        }
        LogLevel level = LogLevel.named(command.text(3))
                .orElseThrow(() -> new CommandException(
                        "ERR loglevel must be error, warn, info, debug or trace, or one of Redis's names"));
        level.apply();
        LOG.info("the log level is now {}", level);
        return Reply.OK;
    }

    /**
     * Returns all sections of statistics, or only the requested ones, to a client with read or administrator
     * permission. Ignores unknown section names, as in Redis.
     */
    private Reply info(Session session, Command command) {
        boolean admin = session.may(Permission.ADMIN);
        if (!admin) {
            session.require(Permission.READ, "info");
        }
        List<String> wanted = new ArrayList<>();
        for (int i = 1; i < command.size(); i++) {
            wanted.add(command.lower(i));
        }
        boolean all = wanted.isEmpty() || wanted.stream().anyMatch(List.of("all", "default", "everything")::contains);
        StringBuilder text = new StringBuilder();
        status.sections(admin).forEach((section, fields) -> {
            if (all || wanted.contains(section.toLowerCase(Locale.ROOT))) {
                text.append(text.isEmpty() ? "" : "\r\n")
                        .append("# ")
                        .append(section)
                        .append("\r\n");
                fields.forEach((name, value) ->
                        text.append(name).append(':').append(value).append("\r\n"));
            }
        });
        return new Reply.Verbatim(text.toString());
    }

    /** Returns the settings whose names match a pattern. */
    private Reply settings(Session session, Command command) {
        Map<String, Object> found = new LinkedHashMap<>();
        if (command.size() - 2 > MAX_PATTERNS) {
            throw new CommandException("ERR CONFIG GET accepts at most " + MAX_PATTERNS + " patterns at a time");
        }
        for (int i = 2; i < command.size(); i++) {
            Glob pattern = new Glob(command.lower(i).getBytes(StandardCharsets.UTF_8));
            status.redisSettings().forEach((name, value) -> {
                if (pattern.matches(name.getBytes(StandardCharsets.UTF_8))) {
                    found.put(name, value);
                }
            });
        }
        return Reply.of(found);
    }

    private Reply names() {
        return new Reply.Array(specs.values().stream()
                .map(spec -> Reply.Bulk.of(spec.lowerName))
                .toList());
    }

    private Reply describe(Command command) {
        List<Reply> replies = new ArrayList<>();
        for (CommandSpec spec : named(command)) {
            replies.add(spec == null ? Reply.Null.ARRAY : spec.describe());
        }
        return new Reply.Array(replies);
    }

    private Reply document(Command command) {
        Map<String, Reply> replies = new LinkedHashMap<>();
        for (CommandSpec spec : named(command)) {
            if (spec != null) {
                replies.put(spec.lowerName, spec.document());
            }
        }
        return Reply.of(replies);
    }

    /**
     * Returns the named commands, or null for a name without a command; all commands if none is named. Throws if there
     * are more names than commands, because the event loop builds the reply.
     */
    private List<@Nullable CommandSpec> named(Command command) {
        if (command.size() <= 2) {
            return new ArrayList<>(specs.values());
        }
        int most = specs.size();
        if (command.size() - 2 > most) {
            throw new CommandException("ERR " + command.size()
                    + " words are too many for COMMAND: it describes at most " + most + " commands at a time");
        }
        List<@Nullable CommandSpec> named = new ArrayList<>();
        for (int i = 2; i < command.size(); i++) {
            named.add(specs.get(command.keyword(i)));
        }
        return named;
    }
}
