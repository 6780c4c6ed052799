package io.caravan;

/**
 * Thrown if the heap or the log has no space for a write. Nothing was changed. Trims and deletes still work. Appends
 * work again once space is available, without a restart.
 */
public final class OutOfSpaceException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public OutOfSpaceException(String message) {
        super(message);
    }
}
