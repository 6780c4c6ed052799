package io.caravan;

/** A callback wrote to the store while its buffers were full; waiting there would stop the store. Ask {@link ListStore#writable()} first. */
public final class NotWritableException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public NotWritableException(String storeName) {
        super(storeName + " has no room in its log buffers, and a callback must not wait for it; use onWritable");
    }
}
