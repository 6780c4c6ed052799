package io.caravan.server.archive.object;

/** What a client asks an object store for. */
public enum ObjectCall {
    GET,
    OPEN,
    PUT,
    PUT_IF,
    LIST,
    DELETE,
    DELETE_IF;

    /** Whether it may change what is there. */
    public boolean writes() {
        return this == PUT || this == PUT_IF || this == DELETE || this == DELETE_IF;
    }
}
