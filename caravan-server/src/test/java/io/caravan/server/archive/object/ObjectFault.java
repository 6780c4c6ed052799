package io.caravan.server.archive.object;

/** What goes wrong with a call. */
public enum ObjectFault {
    /** Nothing. */
    NONE,
    /** It is not done, and the caller is told {@code UNAVAILABLE}. */
    REFUSED,
    /** It is done, and the caller is told {@code UNAVAILABLE}; a stream breaks off half-way. */
    ANSWER_LOST,
    /** It is done, tried again by the client, and the caller is told what the second try was: a put starts over. */
    TRIED_TWICE,
    /** A get finds no object, although it is there. */
    NOT_THERE,
    /** The process dies before it is done. */
    CRASH_BEFORE,
    /** The process dies when it is done. */
    CRASH_AFTER
}
