package io.caravan;

/** The operating system refused something outside the log's write path, such as opening a file. The cause says what. */
public final class StoreIoException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreIoException(String message, Throwable cause) {
        super(message, cause);
    }
}
