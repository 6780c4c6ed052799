package io.caravan;

/**
 * Rejects a write because the heap or the log has no space for it. Nothing was changed. Trims and deletes still work.
 * Appends work again once space is available, without a restart.
 */
public final class OutOfSpaceException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public OutOfSpaceException(String message) {
        super(message);
    }
}
