package io.caravan.server.security;

/** The permissions of a principal. No permission includes another. */
public enum Permission {
    /** Permission to read documents: their values, attributes, and names. */
    READ,
    /** Permission to create, change, and delete documents. */
    WRITE,
    /** Permission to inspect and control the server itself. */
    ADMIN
}
