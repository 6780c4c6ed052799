package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.connection;

import io.caravan.server.config.HostPort;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.security.Permission;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The subcommands of {@code CLIENT}, which list, name, and close connections.
 *
 * @param clients the sessions of all open connections, oldest first
 */
public record ClientCommands(Collection<Session> clients) {
    /** Maximum number of connections in the reply to {@code CLIENT LIST}. */
    static final int MAX_LISTED = 1_000;

    private static final String KILL_USAGE =
            "addr:port | [ID id] [ADDR addr] [LADDR addr] [USER name] [TYPE NORMAL] [SKIPME yes|no]";

    public List<CommandSpec> all() {
        Subcommands subcommands = new Subcommands("CLIENT")
                .add("ID", "", 0, 0, (session, command) -> new Reply.Number(session.id))
                .add("GETNAME", "", 0, 0, ClientCommands::getName)
                .add("SETNAME", "name", 1, 1, ClientCommands::setName)
                .add("SETINFO", "LIB-NAME|LIB-VER value", 2, 2, ClientCommands::setInfo)
                .add("INFO", "", 0, 0, (session, command) -> new Reply.Verbatim(describe(session)))
                .add("LIST", "[TYPE NORMAL | ID id [id ...]]", 0, Integer.MAX_VALUE, this::list)
                .add("KILL", KILL_USAGE, 1, 12, this::kill)
                .add("NO-EVICT", "ON|OFF", 1, 1, ClientCommands::onOrOff)
                .add("NO-TOUCH", "ON|OFF", 1, 1, ClientCommands::onOrOff);
        return List.of(connection("CLIENT", -2, "Names the connection, lists connections, and closes them.")
                .immediate(subcommands::run));
    }

    private static Reply getName(Session session, Command command) {
        return session.name.isEmpty() ? Reply.Null.BULK : Reply.Bulk.of(session.name);
    }

    private static Reply setName(Session session, Command command) {
        session.name = checkedName(command.text(2));
        return Reply.OK;
    }

    /** Returns the name. Throws a {@link CommandException} if {@code CLIENT LIST} could not show it. */
    static String checkedName(String name) {
        if (!isPlain(name)) {
            throw new CommandException("ERR Client names cannot contain spaces, newlines or special characters.");
        }
        return name;
    }

    private static boolean isPlain(String text) {
        return text.length() <= 256 && text.chars().allMatch(c -> c > ' ' && c < 0x7F);
    }

    private static Reply setInfo(Session session, Command command) {
        String value = command.text(3);
        String option = command.keyword(2);
        if (!isPlain(value)) {
            throw new CommandException(
                    "ERR " + command.lower(2) + " cannot contain spaces, newlines or special characters.");
        }
        switch (option) {
            case "LIB-NAME" -> session.library = value;
            case "LIB-VER" -> session.libraryVersion = value;
            default -> throw new CommandException("ERR Unrecognized option '" + command.shortText(2) + "'");
        }
        return Reply.OK;
    }

    /** Checks the argument and does nothing else, because the server evicts neither clients nor keys. */
    private static Reply onOrOff(Session session, Command command) {
        if (!command.is(2, "ON") && !command.is(2, "OFF")) {
            throw CommandException.syntax();
        }
        return Reply.OK;
    }

    private Reply list(Session session, Command command) {
        session.require(Permission.ADMIN, "client|list");
        return new Reply.Verbatim(
                chosen(command).limit(MAX_LISTED).map(ClientCommands::describe).collect(Collectors.joining()));
    }

    /** Closes the connections that match all filters. Closes the client's own connection after the reply. */
    private Reply kill(Session session, Command command) {
        session.require(Permission.ADMIN, "client|kill");
        if (command.size() == 3) {
            String address = command.text(2);
            boolean any = close(session, each -> HostPort.format(each.remote).equals(address)) > 0;
            if (!any) {
                throw new CommandException("ERR No such client");
            }
            return Reply.OK;
        }
        Predicate<Session> chosen = each -> true;
        boolean skipMe = true;
        for (int i = 2; i < command.size(); i += 2) {
            if (i + 1 == command.size()) {
                throw CommandException.syntax();
            }
            if (command.is(i, "SKIPME")) {
                skipMe = command.is(i + 1, "YES");
                if (!skipMe && !command.is(i + 1, "NO")) {
                    throw CommandException.syntax();
                }
            } else {
                chosen = chosen.and(filter(command, i));
            }
        }
        if (skipMe) {
            chosen = chosen.and(each -> each != session);
        }
        return new Reply.Number(close(session, chosen));
    }

    private static Predicate<Session> filter(Command command, int option) {
        String value = command.text(option + 1);
        return switch (command.keyword(option)) {
            case "ID" -> withId(command.number(option + 1));
            case "ADDR" -> each -> HostPort.format(each.remote).equals(value);
            case "LADDR" -> each -> HostPort.format(each.local).equals(value);
            case "USER" -> each -> each.user("").equals(value);
            case "TYPE" -> each -> value.equalsIgnoreCase("NORMAL");
            default -> throw CommandException.syntax();
        };
    }

    private static Predicate<Session> withId(long id) {
        return each -> each.id == id;
    }

    private long close(Session own, Predicate<Session> chosen) {
        List<Session> found = clients.stream().filter(chosen).toList();
        for (Session each : found) {
            if (each == own) {
                own.quitting = true;
            } else {
                each.channel.close();
            }
        }
        return found.size();
    }

    private Stream<Session> chosen(Command command) {
        if (command.size() == 2) {
            return clients.stream();
        }
        if (command.is(2, "TYPE") && command.size() == 4) {
            return command.is(3, "NORMAL") ? clients.stream() : Stream.empty();
        }
        if (!command.is(2, "ID") || command.size() == 3) {
            throw CommandException.syntax();
        }
        Set<Long> ids = new HashSet<>();
        for (int i = 3; i < command.size(); i++) {
            ids.add(command.number(i));
        }
        return clients.stream().filter(session -> ids.contains(session.id));
    }

    private static String describe(Session session) {
        return String.format(
                Locale.ROOT,
                "id=%d addr=%s laddr=%s name=%s age=%d db=0 resp=%d user=%s lib-name=%s lib-ver=%s tot-cmds=%d\n",
                session.id,
                HostPort.format(session.remote),
                HostPort.format(session.local),
                session.name,
                session.ageSeconds(),
                session.protocol.version(),
                session.user(""),
                session.library,
                session.libraryVersion,
                session.commands);
    }

    /** Describes a connection for operators. */
    public static ClientInfo info(Session session) {
        return new ClientInfo(
                "resp",
                HostPort.format(session.remote),
                session.name,
                session.user(""),
                (session.library + " " + session.libraryVersion).strip(),
                session.ageSeconds());
    }
}
