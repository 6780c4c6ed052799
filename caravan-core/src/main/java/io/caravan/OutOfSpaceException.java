package io.caravan;

/**
 * Heap or log have no space for a write. Nothing was changed. Trims and deletes still work; appends work again, without
 * a restart, once there is space.
 */
public final class OutOfSpaceException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public OutOfSpaceException(String message) {
        super(message);
    }
}
