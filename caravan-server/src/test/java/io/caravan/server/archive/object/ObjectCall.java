package io.caravan.server.archive.object;

/** The kinds of calls to an object store. */
public enum ObjectCall {
    GET,
    OPEN,
    PUT,
    PUT_IF,
    LIST,
    DELETE,
    DELETE_IF
}
