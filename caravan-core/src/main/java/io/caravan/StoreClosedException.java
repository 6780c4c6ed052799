package io.caravan;

/** The store has been closed. Open it again to go on. */
public final class StoreClosedException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreClosedException(String storeName) {
        super(storeName + " is closed");
    }
}
