package io.caravan.server.security;

import io.caravan.catalog.DocumentName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A client that has presented a valid secret, and its permissions. Once the secret is revoked, the client has no
 * permissions, so code that keeps a principal for a connection must check it again for each request. Thread-safe.
 */
public final class Principal {
    /** The principal with every permission; represents every client if authentication is disabled. */
    public static final Principal ANYONE =
            new Principal("anyone", EnumSet.allOf(Permission.class), List.of(), new byte[0]);

    /** The principal without permissions: a client that has presented no valid secret, if one is required. */
    public static final Principal ANONYMOUS =
            new Principal("nobody", EnumSet.noneOf(Permission.class), List.of(), new byte[0]);

    private final String name;
    private final Set<Permission> permissions;
    private final byte[][] prefixes;
    private final byte[] digest;
    private volatile boolean revoked;

    /**
     * Creates a principal for documents with one of the prefixes; an empty list means every document.
     *
     * @param digest the SHA-256 digest of the secret; empty if there is none
     */
    Principal(String name, Set<Permission> permissions, List<String> prefixes, byte[] digest) {
        this.name = name;
        this.permissions = Set.copyOf(permissions);
        this.prefixes = prefixes.stream()
                .map(prefix -> prefix.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        this.digest = digest;
    }

    /** Returns the only principal of a server with a password, with every permission. */
    static Principal ofPassword(byte[] password) {
        return new Principal(Authenticator.DEFAULT_USER, EnumSet.allOf(Permission.class), List.of(), digest(password));
    }

    static byte[] digest(byte[] secret) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(secret);
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every Java has SHA-256", impossible);
        }
    }

    /** Returns the user's name in the file of secrets; safe to log. */
    public String name() {
        return name;
    }

    public boolean may(Permission permission, DocumentName document) {
        if (!may(permission)) {
            return false;
        }
        for (byte[] prefix : prefixes) {
            if (document.startsWith(prefix)) {
                return true;
            }
        }
        return prefixes.length == 0;
    }

    /** Whether the principal has a permission for every document whose name starts with {@code beginning}. */
    public boolean mayAll(Permission permission, byte[] beginning) {
        return may(permission)
                && (prefixes.length == 0
                        || Arrays.stream(prefixes)
                                .anyMatch(prefix -> beginning.length >= prefix.length
                                        && Arrays.equals(beginning, 0, prefix.length, prefix, 0, prefix.length)));
    }

    /** Whether the principal has a permission, regardless of the documents to which it applies. */
    public boolean may(Permission permission) {
        return !revoked && permissions.contains(permission);
    }

    /** Whether the secret was revoked, so that the client has no permissions, and must authenticate again. */
    public boolean revoked() {
        return revoked;
    }

    void revoke() {
        revoked = true;
    }

    /** Whether the user name and the digest of a secret are those of this principal. Takes the same time if not. */
    boolean owns(String user, byte[] presented) {
        boolean rightUser = user.equals(Authenticator.DEFAULT_USER) | user.equals(name);
        return MessageDigest.isEqual(digest, presented) & rightUser;
    }

    /** Whether the other principal has the same secret and the same permissions. */
    boolean same(Principal other) {
        return Arrays.equals(digest, other.digest)
                && name.equals(other.name)
                && permissions.equals(other.permissions)
                && Arrays.deepEquals(prefixes, other.prefixes);
    }

    @Override
    public String toString() {
        return name;
    }
}
