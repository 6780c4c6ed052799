package io.caravan.server.protocol.resp.codec;

import java.util.Locale;

/** A command is answered with an error, whose prefix and text are the message. */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CommandException(String error) {
        super(error, null, false, false);
    }

    /**
     * The command has too few words, or too many.
     *
     * @param name in lower case; of a subcommand, with that of its command: {@code client|setname}
     */
    public static CommandException wrongArity(String name) {
        return new CommandException("ERR wrong number of arguments for '" + name + "' command");
    }

    /** The command has no such subcommand. */
    public static CommandException unknownSubcommand(Command command) {
        return new CommandException("ERR unknown subcommand '" + command.shortText(1) + "'. Try "
                + command.keyword(0).toUpperCase(Locale.ROOT) + " HELP.");
    }

    /** A word stands where it has no meaning. */
    public static CommandException syntax() {
        return new CommandException("ERR syntax error");
    }

    public Reply.Error reply() {
        return new Reply.Error(String.valueOf(getMessage()));
    }
}
