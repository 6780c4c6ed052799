package io.caravan.server.cli.client;

/** The server cannot be reached, or went away in the middle: what was asked for may or may not have been done. */
final class ConnectionLostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ConnectionLostException(String message, Throwable cause) {
        super(message, cause);
    }
}
