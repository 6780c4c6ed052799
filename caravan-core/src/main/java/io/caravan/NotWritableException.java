package io.caravan;

/**
 * A write on a store thread, by a callback, found no room; waiting there would stop the store. Nothing was changed. Use
 * {@link ListStore#tryWrite} there, or ask {@link ListStore#writable()} first.
 */
public final class NotWritableException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public NotWritableException(String storeName) {
        super(storeName
                + " has no room for a write now, and a callback must not wait for it; use tryWrite or onWritable");
    }
}
