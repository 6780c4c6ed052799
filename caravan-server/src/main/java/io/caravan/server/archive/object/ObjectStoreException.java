package io.caravan.server.archive.object;

import io.caravan.CaravanException;
import org.jspecify.annotations.Nullable;

/** A place for objects did not do what it was asked for. The message names the place, the key, and what to do. */
public final class ObjectStoreException extends CaravanException {
    private static final long serialVersionUID = 1L;

    /** What kind of problem it is. */
    public enum Kind {
        /** There is no such object, bucket or folder. */
        NOT_FOUND,
        /** The object has changed since it was looked at. */
        CONFLICT,
        /** The credentials are wrong, or do not permit this call. */
        DENIED,
        /** There is no space left. */
        FULL,
        /** No answer, in time, or the answer that it cannot now: trying again later may help. */
        UNAVAILABLE,
        /** The object is not what it can be: cut off, too large, or the place answers what it should not. */
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

    /**
     * True when a put that ended so may have taken place all the same, so that reading the object tells: its answer was
     * lost, or a second try of it met what the first had done. Any other kind is a refusal.
     */
    public boolean leavesOutcomeOpen() {
        return kind == Kind.CONFLICT || kind == Kind.UNAVAILABLE;
    }
}
