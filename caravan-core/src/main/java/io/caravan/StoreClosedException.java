package io.caravan;

/** Thrown if a method of a closed store is called. To continue, open the store again. */
public final class StoreClosedException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public StoreClosedException(String storeName) {
        super(storeName + " is closed");
    }
}
