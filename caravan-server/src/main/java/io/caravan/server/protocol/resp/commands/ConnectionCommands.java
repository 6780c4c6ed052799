package io.caravan.server.protocol.resp.commands;

import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Access;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.Session;
import java.util.List;

/** Simple commands about the connection itself. */
public final class ConnectionCommands {

    private ConnectionCommands() {}

    public static List<CommandSpec> all() {
        return List.of(
                CommandSpec.connection("PING", -1, "Answers PONG, or the message.")
                        .access(Access.FREE)
                        .immediate(ConnectionCommands::ping),
                CommandSpec.connection("ECHO", 2, "Answers the message.")
                        .immediate((session, command) -> new Reply.Bulk(command.word(1))),
                CommandSpec.connection("SELECT", 2, "Selects the database; there is only 0.")
                        .immediate(ConnectionCommands::select),
                CommandSpec.connection("RESET", 1, "Resets the connection to its initial state.")
                        .access(Access.FREE)
                        .atOnce()
                        .immediate(ConnectionCommands::reset),
                CommandSpec.connection("QUIT", -1, "Closes the connection.")
                        .access(Access.FREE)
                        .atOnce()
                        .immediate(ConnectionCommands::quit));
    }

    private static Reply ping(Session session, Command command) {
        return switch (command.size()) {
            case 1 -> new Reply.Simple("PONG");
            case 2 -> new Reply.Bulk(command.word(1));
            default -> throw CommandException.wrongArity("ping");
        };
    }

    private static Reply select(Session session, Command command) {
        if (command.number(1) != 0) {
            throw new CommandException("ERR DB index is out of range");
        }
        return Reply.OK;
    }

    private static Reply reset(Session session, Command command) {
        session.reset();
        return new Reply.InVersion(session.protocol(), new Reply.Simple("RESET"));
    }

    private static Reply quit(Session session, Command command) {
        session.quit();
        return Reply.OK;
    }
}
