package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.connection;

import io.caravan.server.config.Version;
import io.caravan.server.protocol.resp.CommandSpec.Access;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.codec.RespVersion;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The commands that concern the connection itself, such as {@code AUTH} and {@code QUIT}. */
public record ConnectionCommands(ServerStatus status) {
    public List<CommandSpec> all() {
        return List.of(
                connection("AUTH", -2, "Authenticates the connection.")
                        .access(Access.FREE)
                        .immediate(ConnectionCommands::auth),
                connection("HELLO", -1, "Sets the protocol version, and describes the server.")
                        .access(Access.FREE)
                        .immediate(this::hello),
                connection("PING", -1, "Returns PONG, or the message.")
                        .access(Access.FREE)
                        .immediate(ConnectionCommands::ping),
                connection("ECHO", 2, "Returns the message.")
                        .immediate((session, command) -> new Reply.Bulk(command.word(1))),
                connection("SELECT", 2, "Selects the database; there is only 0.")
                        .immediate(ConnectionCommands::select),
                connection("RESET", 1, "Resets the connection to its initial state.")
                        .access(Access.FREE)
                        .atOnce()
                        .immediate(ConnectionCommands::reset),
                connection("QUIT", -1, "Closes the connection.")
                        .access(Access.FREE)
                        .atOnce()
                        .immediate(ConnectionCommands::quit));
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

    private static Reply reset(Session session, Command command) {
        session.reset();
        return new Reply.Simple("RESET");
    }

    private static Reply quit(Session session, Command command) {
        session.quitting = true;
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
        RespVersion version = command.size() == 1 ? session.protocol : version(command);
        Principal principal = session.principal;
        String name = null;
        for (int i = 2; i < command.size(); i++) {
            if (command.is(i, "AUTH") && i + 2 < command.size()) {
                principal = checked(
                        session.authenticator.authenticate(session.remote, command.text(i + 1), command.word(i + 2)));
                i += 2;
            } else if (command.is(i, "SETNAME") && i + 1 < command.size()) {
                name = ClientCommands.checkedName(command.text(++i));
            } else {
                throw new CommandException("ERR Syntax error in HELLO option '" + command.shortText(i) + "'");
            }
        }
        if (principal == null) {
            throw new CommandException(
                    "NOAUTH HELLO must be called with the client already authenticated, otherwise the"
                            + " HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the"
                            + " RESP protocol version at the same time");
        }
        session.principal = principal;
        session.protocol = version;
        if (name != null) {
            session.name = name;
        }
        return greeting(session);
    }

    private static RespVersion version(Command command) {
        return switch (command.shortText(1)) {
            case "2" -> RespVersion.RESP2;
            case "3" -> RespVersion.RESP3;
            default -> throw new CommandException("NOPROTO unsupported protocol version");
        };
    }

    private Reply greeting(Session session) {
        return Reply.Fields.of(
                "server", "caravan",
                "version", Version.current(),
                "proto", session.protocol.version(),
                "id", session.id,
                "mode", status.mode(),
                "role", status.role(),
                "modules", Reply.Array.EMPTY);
    }
}
