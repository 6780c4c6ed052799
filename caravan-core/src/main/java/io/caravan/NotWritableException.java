package io.caravan;

/**
 * Thrown if a write on a store thread, for example in a callback, would have to wait for space. A wait on that thread
 * would stop the store. Nothing was changed. Use {@link ListStore#tryWrite}, or check {@link ListStore#writable()}
 * first. On a server's event loops, the catalog throws this exception in the same situation.
 */
public final class NotWritableException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public NotWritableException(String storeName) {
        super(storeName
                + " has no space for a write now, and a callback must not wait for it; use tryWrite or onWritable");
    }
}
