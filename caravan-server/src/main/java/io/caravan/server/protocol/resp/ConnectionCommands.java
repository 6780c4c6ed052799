package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.connection;

import io.caravan.server.config.HostPort;
import io.caravan.server.config.Version;
import io.caravan.server.net.ClientInfo;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The commands that concern connections: {@code AUTH}, {@code QUIT}, and {@code CLIENT}, which lists, names, and closes
 * them.
 *
 * @param clients the sessions of all open connections, oldest first
 */
record ConnectionCommands(ServerStatus status, Collection<Session> clients) {
    /** Maximum number of connections in the reply to {@code CLIENT LIST}. */
    static final int MAX_LISTED = 1_000;

    private static final String KILL_USAGE =
            "KILL addr:port | [ID id] [ADDR addr] [LADDR addr] [USER name] [TYPE NORMAL] [SKIPME yes|no]";

    List<CommandSpec> all() {
        return List.of(
                connection("AUTH", -2, "Authenticates the connection.").free().immediate(ConnectionCommands::auth),
                connection("HELLO", -1, "Sets the protocol version, and describes the server.")
                        .free()
                        .immediate(this::hello),
                connection("PING", -1, "Returns PONG, or the message.").free().immediate(ConnectionCommands::ping),
                connection("ECHO", 2, "Returns the message.")
                        .immediate((session, command) -> new Reply.Bulk(command.word(1))),
                connection("SELECT", 2, "Selects the database; there is only 0.")
                        .immediate(ConnectionCommands::select),
                connection("RESET", 1, "Resets the connection to its initial state.")
                        .free()
                        .atOnce()
                        .immediate((session, command) -> {
                            session.reset();
                            return new Reply.Simple("RESET");
                        }),
                connection("QUIT", -1, "Closes the connection.").free().atOnce().immediate((session, command) -> {
                    session.quitting = true;
                    return Reply.OK;
                }),
                connection("CLIENT", -2, "Names the connection, lists connections, and closes them.")
                        .immediate(new Subcommands()
                                .add("ID", 0, (session, command) -> new Reply.Number(session.id))
                                .add(
                                        "GETNAME",
                                        0,
                                        (session, command) -> Reply.of(session.name.isEmpty() ? null : session.name))
                                .add("SETNAME name", 1, ConnectionCommands::setName)
                                .add("SETINFO LIB-NAME|LIB-VER value", 2, ConnectionCommands::setInfo)
                                .add("INFO", 0, (session, command) -> new Reply.Verbatim(describe(session)))
                                .add("LIST [TYPE NORMAL | ID id [id ...]]", 0, Integer.MAX_VALUE, this::list)
                                .add(KILL_USAGE, 1, 12, this::kill)
                                .add("NO-EVICT ON|OFF", 1, ConnectionCommands::onOrOff)
                                .add("NO-TOUCH ON|OFF", 1, ConnectionCommands::onOrOff)));
    }

    private static Reply ping(Session session, Command command) {
        if (session.onlyListens() && command.size() <= 2) {
            return Reply.Array.of("pong", command.size() == 1 ? "" : command.word(1));
        }
        return switch (command.size()) {
            case 1 -> new Reply.Simple("PONG");
            case 2 -> new Reply.Bulk(command.word(1));
            default -> throw CommandException.wrongArity("ping");
        };
    }

    /**
     * Ends the connection if the client selects a database other than 0. If the connection stayed open, a client that
     * ignores the error would use the documents of database 0.
     */
    private static Reply select(Session session, Command command) {
        if (command.number(1) != 0) {
            session.quitting = true;
            throw new CommandException(
                    "ERR DB index is out of range: there is only database 0, and the connection closes;"
                            + " configure the client for database 0, and separate applications by prefixes of document names");
        }
        return Reply.OK;
    }

    private static Reply auth(Session session, Command command) {
        if (command.size() > 3) {
            throw CommandException.syntax();
        }
        Authenticator authenticator = session.authenticator;
        if (!authenticator.required() && command.size() == 2) {
            throw new CommandException(
                    "ERR AUTH <password> called without any password configured for the default user."
                            + " Are you sure your configuration is correct?");
        }
        String user = command.size() == 2 ? Authenticator.DEFAULT_USER : command.text(1);
        byte[] secret = command.word(command.size() - 1);
        session.principal = checked(authenticator.authenticate(session.remote, user, secret));
        return Reply.OK;
    }

    private static Principal checked(@Nullable Principal principal) {
        if (principal == null) {
            throw new CommandException("WRONGPASS invalid username-password pair or user is disabled.");
        }
        return principal;
    }

    /** Applies all options of {@code HELLO}, or none of them. */
    private Reply hello(Session session, Command command) {
        boolean resp3 = command.size() == 1 ? session.resp3 : resp3(command);
        Principal principal = session.principal;
        String name = null;
        for (int i = 2; i < command.size(); i++) {
            if (command.is(i, "AUTH") && i + 2 < command.size()) {
                principal = checked(
                        session.authenticator.authenticate(session.remote, command.text(i + 1), command.word(i + 2)));
                i += 2;
            } else if (command.is(i, "SETNAME") && i + 1 < command.size()) {
                name = checkedName(command.text(++i));
            } else {
                throw new CommandException("ERR Syntax error in HELLO option '" + command.shortText(i) + "'");
            }
        }
        if (principal == Principal.ANONYMOUS) {
            throw new CommandException(
                    "NOAUTH HELLO must be called with the client already authenticated, otherwise the"
                            + " HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the"
                            + " RESP protocol version at the same time");
        }
        session.principal = principal;
        session.resp3 = resp3;
        if (name != null) {
            session.name = name;
        }
        return Reply.map(
                "server",
                "caravan",
                "version",
                Version.current(),
                "proto",
                session.resp3 ? 3 : 2,
                "id",
                session.id,
                "mode",
                status.mode(),
                "role",
                status.role(),
                "modules",
                Reply.Array.EMPTY);
    }

    private static boolean resp3(Command command) {
        return switch (command.shortText(1)) {
            case "2" -> false;
            case "3" -> true;
            default -> throw new CommandException("NOPROTO unsupported protocol version");
        };
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
        command.isOn(2);
        return Reply.OK;
    }

    private Reply list(Session session, Command command) {
        session.require(Permission.ADMIN, "client|list");
        return new Reply.Verbatim(chosen(command)
                .limit(MAX_LISTED)
                .map(ConnectionCommands::describe)
                .collect(Collectors.joining()));
    }

    /** Closes the connections that match all filters. Closes the client's own connection after the reply. */
    private Reply kill(Session session, Command command) {
        session.require(Permission.ADMIN, "client|kill");
        if (command.size() == 3) {
            String address = command.text(2);
            if (close(session, each -> HostPort.format(each.remote).equals(address)) == 0) {
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
            case "ID" -> {
                long id = command.number(option + 1);
                yield each -> each.id == id;
            }
            case "ADDR" -> each -> HostPort.format(each.remote).equals(value);
            case "LADDR" -> each -> HostPort.format(each.local).equals(value);
            case "USER" -> each -> each.user().equals(value);
            case "TYPE" -> each -> value.equalsIgnoreCase("NORMAL");
            default -> throw CommandException.syntax();
        };
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
                session.resp3 ? 3 : 2,
                session.user(),
                session.library,
                session.libraryVersion,
                session.commands);
    }

    static ClientInfo info(Session session) {
        return new ClientInfo(
                "resp",
                HostPort.format(session.remote),
                session.name,
                session.user(),
                (session.library + " " + session.libraryVersion).strip(),
                session.ageSeconds());
    }
}
