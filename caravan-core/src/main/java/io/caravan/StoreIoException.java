package io.caravan;

/**
 * Reports an error of the operating system outside the log's write path, such as a failure to open a file. The cause
 * gives the reason.
 */
public final class StoreIoException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreIoException(String message, Throwable cause) {
        super(message, cause);
    }
}
