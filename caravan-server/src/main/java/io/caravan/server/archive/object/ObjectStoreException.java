package io.caravan.server.archive.object;

import io.caravan.CaravanException;
import org.jspecify.annotations.Nullable;

/** Thrown when an object store cannot perform a call. The message names the location, the key, and what to do. */
public final class ObjectStoreException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public enum Kind {
        /** There is no such object, bucket, or directory. */
        NOT_FOUND,
        /** The object has changed since it was read. */
        CONFLICT,
        /** The credentials are wrong, or do not permit this call. */
        DENIED,
        /** The object store has no space left. */
        FULL,
        /** There was no response in time, or the store is temporarily unavailable: retry later. */
        UNAVAILABLE,
        /** The object is invalid, for example truncated or too large, or the store's response is invalid. */
        CORRUPT
    }

    private final Kind kind;

    public ObjectStoreException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }

    /** Whether calls for other objects would also fail now. */
    public boolean isOutage() {
        return kind == Kind.UNAVAILABLE || kind == Kind.DENIED;
    }
}
