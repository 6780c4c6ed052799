package io.caravan.server.protocol.resp.commands;

import io.caravan.server.config.LogLevel;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Access;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.protocol.resp.dispatch.Subcommands;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@code INFO} and {@code CONFIG}. */
public final class ServerCommands {
    private static final Logger LOG = LoggerFactory.getLogger(ServerCommands.class);

    private final ServerStatus status;
    private final Subcommands config = new Subcommands("CONFIG");

    public ServerCommands(ServerStatus status) {
        this.status = status;
        config.add("GET", "pattern [pattern ...]", 1, Integer.MAX_VALUE, this::settings)
                .add("SET", "loglevel level", 2, Integer.MAX_VALUE, (session, command) -> set(command));
    }

    public List<CommandSpec> all() {
        return List.of(
                CommandSpec.server("INFO", -1, "Describes the server, its clients and the store.")
                        .access(Access.READ)
                        .immediate(this::info),
                CommandSpec.server("CONFIG", -2, "Returns settings by Redis's names, and sets the log level.")
                        .access(Access.ADMIN)
                        .immediate(config::run));
    }

    private static Reply set(Command command) {
        if (command.size() != 4 || !command.is(2, "LOGLEVEL")) {
            throw new CommandException(
                    "ERR settings cannot be changed while the server runs, but for loglevel; they are"
                            + " options of its command line");
        }
        LogLevel level = LogLevel.named(command.text(3))
                .orElseThrow(() -> new CommandException(
                        "ERR loglevel must be error, warn, info, debug or trace, or one of Redis's names"));
        level.apply();
        LOG.info("the log's level is {} now", level);
        return Reply.OK;
    }

    /** All sections, or those that are named; one that does not exist is empty, as in Redis. */
    private Reply info(Session session, Command command) {
        List<String> wanted = new ArrayList<>();
        for (int i = 1; i < command.size(); i++) {
            wanted.add(command.lower(i));
        }
        boolean all = wanted.isEmpty() || wanted.stream().anyMatch(List.of("all", "default", "everything")::contains);
        StringBuilder text = new StringBuilder();
        status.sections(session.principal()).forEach((section, fields) -> {
            if (all || wanted.contains(section.toLowerCase(Locale.ROOT))) {
                append(text, section, fields);
            }
        });
        return new Reply.Verbatim(text.toString());
    }

    private static void append(StringBuilder text, String section, Map<String, Object> fields) {
        text.append(text.isEmpty() ? "" : "\r\n").append("# ").append(section).append("\r\n");
        fields.forEach(
                (name, value) -> text.append(name).append(':').append(value).append("\r\n"));
    }

    /** The few settings of Redis that its tools request. */
    private Reply settings(Session session, Command command) {
        Map<String, Reply> found = new LinkedHashMap<>();
        for (int i = 2; i < command.size(); i++) {
            Glob pattern = new Glob(command.lower(i).getBytes(StandardCharsets.UTF_8));
            status.redisSettings().forEach((name, value) -> {
                if (pattern.matches(name.getBytes(StandardCharsets.UTF_8))) {
                    found.put(name, Reply.Bulk.of(value));
                }
            });
        }
        return new Reply.Fields(found);
    }
}
