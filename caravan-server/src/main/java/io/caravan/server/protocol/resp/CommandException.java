package io.caravan.server.protocol.resp;

/** Thrown if a command fails. The message is the text of the error reply, including the prefix. */
final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CommandException(String error) {
        super(error, null, false, false);
    }

    /** The name is in lower case, with any subcommand: {@code client|setname}. */
    static CommandException wrongArity(String name) {
        return new CommandException("ERR wrong number of arguments for '" + name + "' command");
    }

    static CommandException syntax() {
        return new CommandException("ERR syntax error");
    }

    Reply.Error reply() {
        return new Reply.Error(String.valueOf(getMessage()));
    }
}
