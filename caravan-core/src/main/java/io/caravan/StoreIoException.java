package io.caravan;

/**
 * Thrown if the operating system reports an error outside the log's write path, for example when a file is opened. The
 * cause gives the reason.
 */
public final class StoreIoException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreIoException(String message, Throwable cause) {
        super(message, cause);
    }
}
