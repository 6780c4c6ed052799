package io.caravan;

/**
 * Thrown if a write or fsync of the store's files has failed, or an internal error has left the store inconsistent.
 * Writes acknowledged at {@code SYNC} are safe; the outcome of all others is unknown. The cause is the first failure.
 * Close the store, repair the disk, and open the store again.
 */
public final class StoreFailedException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreFailedException(String storeName, Throwable firstCause) {
        super(storeName + " has failed and must be reopened; first cause: " + firstCause, firstCause);
    }
}
