package io.caravan.server.resp;

import io.caravan.server.Version;
import java.util.List;
import java.util.Locale;

/** Commands about the connection itself. */
final class ConnectionCommands {

    private ConnectionCommands() {}

    static Reply ping(Session session, Command command) {
        return switch (command.size()) {
            case 1 -> new Reply.Simple("PONG");
            case 2 -> new Reply.Bulk(command.word(1));
            default -> throw new CommandException("ERR wrong number of arguments for 'ping' command");
        };
    }

    static Reply echo(Session session, Command command) {
        return new Reply.Bulk(command.word(1));
    }

    /** Tells what the server is; the connection speaks RESP 2, and stays at it. */
    static Reply hello(Session session, Command command) {
        if (command.size() > 1 && !command.text(1).equals("2")) {
            throw new CommandException("NOPROTO unsupported protocol version");
        }
        for (int i = 2; i < command.size(); i += 2) {
            if (!command.keyword(i).equals("SETNAME") || i + 1 == command.size()) {
                throw new CommandException("ERR Syntax error in HELLO option '" + command.text(i) + "'");
            }
            setName(session, command.text(i + 1));
        }
        return new Reply.Array(List.of(
                Reply.Bulk.of("server"), Reply.Bulk.of("caravan"),
                Reply.Bulk.of("version"), Reply.Bulk.of(Version.current()),
                Reply.Bulk.of("proto"), new Reply.Number(2),
                Reply.Bulk.of("id"), new Reply.Number(session.id()),
                Reply.Bulk.of("mode"), Reply.Bulk.of("standalone"),
                Reply.Bulk.of("role"), Reply.Bulk.of("master"),
                Reply.Bulk.of("modules"), Reply.Array.EMPTY));
    }

    private static void setName(Session session, String name) {
        if (!name.chars().allMatch(c -> c > ' ' && c < 0x7F)) {
            throw new CommandException("ERR Client names cannot contain spaces, newlines or special characters.");
        }
        session.name(name);
    }

    static Reply select(Session session, Command command) {
        if (command.number(1) != 0) {
            throw new CommandException("ERR DB index is out of range");
        }
        return Reply.OK;
    }

    static Reply client(Session session, Command command) {
        return switch (command.keyword(1)) {
            case "ID" -> new Reply.Number(session.id());
            case "GETNAME" -> session.name().isEmpty() ? Reply.Null.INSTANCE : Reply.Bulk.of(session.name());
            case "SETINFO" -> {
                requireWords(command, 4);
                yield Reply.OK;
            }
            case "SETNAME" -> {
                requireWords(command, 3);
                setName(session, command.text(2));
                yield Reply.OK;
            }
            default -> throw unknownSubcommand(command);
        };
    }

    private static void requireWords(Command command, int words) {
        if (command.size() != words) {
            throw new CommandException("ERR wrong number of arguments for 'client|"
                    + command.text(1).toLowerCase(Locale.ROOT) + "' command");
        }
    }

    static Reply quit(Session session, Command command) {
        session.quit();
        return Reply.OK;
    }

    static CommandException unknownSubcommand(Command command) {
        return new CommandException(
                "ERR unknown subcommand '" + command.text(1) + "'. Try " + command.keyword(0) + " HELP.");
    }
}
