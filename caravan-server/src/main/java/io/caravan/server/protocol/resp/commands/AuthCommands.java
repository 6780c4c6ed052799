package io.caravan.server.protocol.resp.commands;

import io.caravan.server.config.Version;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Protocol;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Access;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.security.Authenticator;
import io.caravan.server.security.Principal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Who the client is, and which version of the protocol it speaks. */
public final class AuthCommands {

    private AuthCommands() {}

    public static List<CommandSpec> all() {
        return List.of(
                CommandSpec.connection("AUTH", -2, "Authenticates the connection.")
                        .access(Access.FREE)
                        .immediate(AuthCommands::auth),
                CommandSpec.connection(
                                "HELLO", -1, "Chooses the version of the protocol, and tells what the server is.")
                        .access(Access.FREE)
                        .immediate(AuthCommands::hello));
    }

    private static Reply auth(Session session, Command command) {
        if (command.size() > 3) {
            throw CommandException.syntax();
        }
        Authenticator authenticator = session.authenticator();
        if (!authenticator.required() && command.size() == 2) {
            throw new CommandException(
                    "ERR AUTH <password> called without any password configured for the default user."
                            + " Are you sure your configuration is correct?");
        }
        String user = command.size() == 2 ? Authenticator.DEFAULT_USER : command.text(1);
        byte[] secret = command.word(command.size() - 1);
        session.principal(checked(authenticator.authenticate(session.remote(), user, secret)));
        return Reply.OK;
    }

    private static Principal checked(@Nullable Principal principal) {
        if (principal == null) {
            throw new CommandException("WRONGPASS invalid username-password pair or user is disabled.");
        }
        return principal;
    }

    /** Does all that it is asked for, or nothing. */
    private static Reply hello(Session session, Command command) {
        Protocol version = command.size() == 1 ? session.protocol() : version(command);
        Principal principal = session.principal();
        String name = null;
        for (int i = 2; i < command.size(); i++) {
            if (command.is(i, "AUTH") && i + 2 < command.size()) {
                principal = checked(session.authenticator()
                        .authenticate(session.remote(), command.text(i + 1), command.word(i + 2)));
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
        session.principal(principal);
        session.protocol(version);
        if (name != null) {
            session.name(name);
        }
        return new Reply.InVersion(version, greeting(session));
    }

    private static Protocol version(Command command) {
        return switch (command.shortText(1)) {
            case "2" -> Protocol.RESP2;
            case "3" -> Protocol.RESP3;
            default -> throw new CommandException("NOPROTO unsupported protocol version");
        };
    }

    private static Reply greeting(Session session) {
        Map<String, Reply> entries = new LinkedHashMap<>();
        entries.put("server", Reply.Bulk.of("caravan"));
        entries.put("version", Reply.Bulk.of(Version.current()));
        entries.put("proto", new Reply.Number(session.protocol().version()));
        entries.put("id", new Reply.Number(session.id()));
        entries.put("mode", Reply.Bulk.of("standalone"));
        entries.put("role", Reply.Bulk.of("master"));
        entries.put("modules", Reply.Array.EMPTY);
        return new Reply.Fields(entries);
    }
}
