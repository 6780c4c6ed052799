package io.caravan.server.protocol.resp.codec;

import java.util.Locale;

/** Reports that a command failed; the message is the prefix and text of its error reply. */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CommandException(String error) {
        super(error, null, false, false);
    }

    /**
     * Creates the exception for a command with too few words, or too many.
     *
     * @param name in lower case; for a subcommand, after the name of its command: {@code client|setname}
     */
    public static CommandException wrongArity(String name) {
        return new CommandException("ERR wrong number of arguments for '" + name + "' command");
    }

    /** Creates the exception for an unknown subcommand. */
    public static CommandException unknownSubcommand(Command command) {
        return new CommandException("ERR unknown subcommand '" + command.shortText(1) + "'. Try "
                + command.keyword(0).toUpperCase(Locale.ROOT) + " HELP.");
    }

    /** Creates the exception for a word in a position where it has no meaning. */
    public static CommandException syntax() {
        return new CommandException("ERR syntax error");
    }

    public Reply.Error reply() {
        return new Reply.Error(String.valueOf(getMessage()));
    }
}
