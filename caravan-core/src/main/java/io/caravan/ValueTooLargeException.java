package io.caravan;

/** Thrown if a value or a batch exceeds its size limit. Nothing was changed. */
public final class ValueTooLargeException extends CaravanException {
    private static final long serialVersionUID = 1L;

    private final long bytes;
    private final long limitBytes;

    public ValueTooLargeException(String what, long bytes, long limitBytes) {
        super(what + " of " + bytes + " bytes is over the limit of " + limitBytes
                + " bytes; see StoreConfig.maxValueBytes and logBufferBytes");
        this.bytes = bytes;
        this.limitBytes = limitBytes;
    }

    public long bytes() {
        return bytes;
    }

    public long limitBytes() {
        return limitBytes;
    }
}
