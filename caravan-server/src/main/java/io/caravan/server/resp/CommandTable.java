package io.caravan.server.resp;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All commands, by name. */
final class CommandTable {
    /** How much of an unknown command an error repeats, as in Redis. */
    private static final int ECHOED_CHARS = 128;

    private static final CommandSpec.Keys NONE = CommandSpec.Keys.NONE;
    private static final CommandSpec.Keys FIRST = CommandSpec.Keys.FIRST;
    private static final CommandSpec.Keys ALL = CommandSpec.Keys.ALL;

    private final Map<String, CommandSpec> specs = new LinkedHashMap<>();

    CommandTable(ListCommands lists, ServerCommands server) {
        write("RPUSH", -3, FIRST, lists::push, "denyoom", "fast");
        read("LRANGE", 4, FIRST, lists::range);
        read("LLEN", 2, FIRST, lists::length, "fast");
        write("LTRIM", 4, FIRST, lists::trim);
        write("DEL", -2, ALL, lists::delete);
        read("EXISTS", -2, ALL, lists::exists, "fast");
        immediate("PING", -1, ConnectionCommands::ping);
        immediate("ECHO", 2, ConnectionCommands::echo);
        immediate("HELLO", -1, ConnectionCommands::hello);
        immediate("SELECT", 2, ConnectionCommands::select);
        immediate("CLIENT", -2, ConnectionCommands::client);
        immediate("QUIT", -1, ConnectionCommands::quit);
        immediate("COMMAND", -1, (session, command) -> command(command));
        immediate("INFO", -1, server::info);
        immediate("CONFIG", -2, server::config);
    }

    private void write(String name, int arity, CommandSpec.Keys keys, Action.Write action, String... flags) {
        add(new CommandSpec(name, arity, withFirst("write", flags), keys, action));
    }

    private void read(String name, int arity, CommandSpec.Keys keys, Action.Read action, String... flags) {
        add(new CommandSpec(name, arity, withFirst("readonly", flags), keys, action));
    }

    private void immediate(String name, int arity, Action.Immediate action) {
        add(new CommandSpec(name, arity, List.of("loading", "stale", "fast"), NONE, action));
    }

    private static List<String> withFirst(String first, String... others) {
        String[] all = new String[others.length + 1];
        all[0] = first;
        System.arraycopy(others, 0, all, 1, others.length);
        return List.of(all);
    }

    private void add(CommandSpec spec) {
        specs.put(spec.name(), spec);
    }

    @Nullable
    CommandSpec find(Command command) {
        return specs.get(command.keyword(0));
    }

    Collection<CommandSpec> all() {
        return specs.values();
    }

    /** Redis's own words for a command that it does not know. */
    static Reply.Error unknown(Command command) {
        StringBuilder text = new StringBuilder("ERR unknown command '")
                .append(shortened(command.text(0)))
                .append("', with args beginning with: ");
        for (int i = 1; i < command.size() && text.length() < 2 * ECHOED_CHARS; i++) {
            text.append('\'').append(shortened(command.text(i))).append("' ");
        }
        return new Reply.Error(text.toString());
    }

    private static String shortened(String text) {
        return text.length() > ECHOED_CHARS ? text.substring(0, ECHOED_CHARS) : text;
    }

    private Reply command(Command command) {
        if (command.size() == 1) {
            return new Reply.Array(
                    specs.values().stream().map(CommandSpec::describe).toList());
        }
        return switch (command.keyword(1)) {
            case "COUNT" -> new Reply.Number(specs.size());
            case "DOCS" -> Reply.Array.EMPTY;
            default -> throw ConnectionCommands.unknownSubcommand(command);
        };
    }
}
