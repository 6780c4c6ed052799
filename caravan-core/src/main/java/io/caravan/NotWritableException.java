package io.caravan;

/**
 * Thrown if a callback writes on a store thread while the store has no space for the write. Waiting on that thread
 * would stop the store. Nothing was changed. Use {@link ListStore#tryWrite}, or check {@link ListStore#writable()}
 * first.
 */
public final class NotWritableException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public NotWritableException(String storeName) {
        super(storeName
                + " has no space for a write now, and a callback must not wait for it; use tryWrite or onWritable");
    }
}
