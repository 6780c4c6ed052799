package io.caravan.server.protocol.resp.codec;

/** Thrown if a command fails. The message is the text of the error reply, including the prefix. */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CommandException(String error) {
        super(error, null, false, false);
    }

    /**
     * Creates the exception for a wrong number of words. The name is in lower case, with any subcommand: {@code
     * client|setname}.
     */
    public static CommandException wrongArity(String name) {
        return new CommandException("ERR wrong number of arguments for '" + name + "' command");
    }

    public static CommandException unknownSubcommand(Command command) {
        return new CommandException(
                "ERR unknown subcommand '" + command.shortText(1) + "'. Try " + command.keyword(0) + " HELP.");
    }

    public static CommandException syntax() {
        return new CommandException("ERR syntax error");
    }

    public Reply.Error reply() {
        return new Reply.Error(String.valueOf(getMessage()));
    }
}
