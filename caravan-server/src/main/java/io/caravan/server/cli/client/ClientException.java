package io.caravan.server.cli.client;

import org.jspecify.annotations.Nullable;

/** A command failed. The message says why, and what to do. */
public final class ClientException extends RuntimeException {
    /** The exit code of a failure: no server, no permission, no space. */
    public static final int FAILED = 1;
    /** The exit code when the document is in another state than expected: missing, longer, closed, trimmed. */
    public static final int OTHER_STATE = 3;

    private static final long serialVersionUID = 1L;

    private final int exitCode;

    private ClientException(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    public static ClientException failed(String message) {
        return new ClientException(FAILED, message, null);
    }

    public static ClientException failed(String message, Throwable cause) {
        return new ClientException(FAILED, message, cause);
    }

    public static ClientException otherState(String message) {
        return new ClientException(OTHER_STATE, message, null);
    }

    static ClientException otherState(String message, Throwable cause) {
        return new ClientException(OTHER_STATE, message, cause);
    }

    public static ClientException missing(String name) {
        return otherState("there is no document '" + name + "'");
    }

    /** The same problem, with more details. */
    ClientException with(String more) {
        return new ClientException(exitCode, getMessage() + more, this);
    }

    /** Whether the document is in another state than expected, and others may do. */
    public boolean isOtherState() {
        return exitCode == OTHER_STATE;
    }

    int exitCode() {
        return exitCode;
    }
}
