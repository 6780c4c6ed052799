package io.caravan.server.archive.object;

/** The faults that a test can inject into a call to an object store. */
public enum ObjectFault {
    /** No fault: the call succeeds. */
    NONE,
    /** The call has no effect, and fails with {@code UNAVAILABLE}. */
    REJECTED,
    /** The call takes effect, but fails with {@code UNAVAILABLE}. A stream fails after half of the content. */
    RESPONSE_LOST,
    /**
     * The call takes effect, but the client repeats it and returns the result of the second attempt. A put writes its
     * content again.
     */
    TRIED_TWICE,
    /** A get returns no object although the object exists. */
    NOT_THERE,
    /** The process dies before the call takes effect. */
    CRASH_BEFORE,
    /** The process dies after the call takes effect. */
    CRASH_AFTER
}
