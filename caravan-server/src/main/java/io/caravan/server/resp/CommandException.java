package io.caravan.server.resp;

/** A command is answered with an error, whose prefix and text are the message. */
final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CommandException(String error) {
        super(error, null, false, false);
    }

    Reply.Error reply() {
        return new Reply.Error(String.valueOf(getMessage()));
    }
}
