package io.caravan.server.security;

/** What a principal may be allowed to do. None of them includes another. */
public enum Permission {
    /** To see documents: their values, attributes and names. */
    READ,
    /** To create, change and delete documents. */
    WRITE,
    /** To inspect and control the server itself. */
    ADMIN
}
