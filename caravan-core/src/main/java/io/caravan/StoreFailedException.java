package io.caravan;

/** A write or force of the log failed, which is final for this open store: what was acknowledged is safe, the rest is unknown. The cause is the first failure. Close the store, repair the disk, open it again. */
public final class StoreFailedException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreFailedException(String storeName, Throwable firstCause) {
        super(storeName + " has failed and must be reopened; first cause: " + firstCause, firstCause);
    }
}
