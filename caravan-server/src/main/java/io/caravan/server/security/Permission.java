package io.caravan.server.security;

/** The permissions of a principal. No permission includes another. */
public enum Permission {
    /** To read documents: their values, attributes, and names. */
    READ,
    /** To create, change, and delete documents. */
    WRITE,
    /** To inspect and control the server itself. */
    ADMIN
}
