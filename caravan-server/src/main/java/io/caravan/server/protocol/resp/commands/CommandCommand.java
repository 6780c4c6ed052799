package io.caravan.server.protocol.resp.commands;

import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.protocol.resp.dispatch.Subcommands;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** {@code COMMAND}: which commands there are. */
public final class CommandCommand {
    private final Supplier<Map<String, CommandSpec>> specs;
    private final Subcommands subcommands = new Subcommands("COMMAND");

    /**
     * A command over a table of commands.
     *
     * @param specs by name; asked for when it is needed, because this is one of them
     */
    public CommandCommand(Supplier<Map<String, CommandSpec>> specs) {
        this.specs = specs;
        subcommands
                .add(
                        "COUNT",
                        "",
                        0,
                        0,
                        (session, command) -> new Reply.Number(specs.get().size()))
                .add("LIST", "", 0, 0, (session, command) -> names())
                .add("INFO", "[name ...]", 0, Integer.MAX_VALUE, (session, command) -> describe(command))
                .add("DOCS", "[name ...]", 0, Integer.MAX_VALUE, (session, command) -> document(command));
    }

    public List<CommandSpec> all() {
        return List.of(CommandSpec.server("COMMAND", -1, "Lists the commands.").immediate(this::run));
    }

    private Reply run(Session session, Command command) {
        return command.size() == 1 ? describe(command) : subcommands.run(session, command);
    }

    private Reply names() {
        return new Reply.Array(specs.get().values().stream()
                .map(spec -> Reply.Bulk.of(spec.lowerName()))
                .toList());
    }

    private Reply describe(Command command) {
        List<Reply> found = new ArrayList<>();
        if (command.size() <= 2) {
            specs.get().values().forEach(spec -> found.add(spec.describe()));
        }
        checkNames(command);
        for (int i = 2; i < command.size(); i++) {
            CommandSpec spec = specs.get().get(command.keyword(i));
            found.add(spec == null ? Reply.Null.ARRAY : spec.describe());
        }
        return new Reply.Array(found);
    }

    /** More names than commands would only repeat some, and the answer is built on the event loop. */
    private void checkNames(Command command) {
        int most = specs.get().size();
        if (command.size() - 2 > most) {
            throw new CommandException("ERR " + command.size()
                    + " words are too many for COMMAND: it describes at most " + most + " commands at a time");
        }
    }

    private Reply document(Command command) {
        Map<String, Reply> found = new LinkedHashMap<>();
        if (command.size() == 2) {
            specs.get().values().forEach(spec -> found.put(spec.lowerName(), spec.document()));
        }
        checkNames(command);
        for (int i = 2; i < command.size(); i++) {
            CommandSpec spec = specs.get().get(command.keyword(i));
            if (spec != null) {
                found.put(spec.lowerName(), spec.document());
            }
        }
        return new Reply.Fields(found);
    }
}
