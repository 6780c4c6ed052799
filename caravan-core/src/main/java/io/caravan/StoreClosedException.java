package io.caravan;

/** Reports a call on a closed store. Open the store again to continue. */
public final class StoreClosedException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreClosedException(String storeName) {
        super(storeName + " is closed");
    }
}
