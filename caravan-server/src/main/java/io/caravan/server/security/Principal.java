package io.caravan.server.security;

import io.caravan.catalog.DocumentName;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Whoever has shown a valid secret, and what it allows. Once the secret is withdrawn it allows nothing, so code that
 * keeps a principal for a connection must ask it again for each request. Threads share it.
 */
public final class Principal {
    /** May do everything; stands for every client where no authentication is configured. */
    public static final Principal ANYONE = new Principal("anyone", EnumSet.allOf(Permission.class), List.of());

    /** May do nothing; stands for a client that has shown no valid secret, where one is required. */
    public static final Principal NOBODY = new Principal("nobody", EnumSet.noneOf(Permission.class), List.of());

    private final String name;
    private final Set<Permission> permissions;
    private final byte[][] prefixes;
    private volatile boolean revoked;

    /** Its documents are those whose names start with one of the prefixes; an empty list is every document. */
    Principal(String name, Set<Permission> permissions, List<String> prefixes) {
        this.name = name;
        this.permissions = Set.copyOf(permissions);
        this.prefixes = prefixes.stream()
                .map(prefix -> prefix.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /** The user's name in the file of secrets; safe to log. */
    public String name() {
        return name;
    }

    /** Whether it may do this to this document. */
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

    /** Whether it may do this to every document whose name begins so. */
    public boolean mayAll(Permission permission, byte[] beginning) {
        return may(permission)
                && (prefixes.length == 0 || Arrays.stream(prefixes).anyMatch(prefix -> startsWith(beginning, prefix)));
    }

    private static boolean startsWith(byte[] beginning, byte[] prefix) {
        return beginning.length >= prefix.length
                && Arrays.equals(beginning, 0, prefix.length, prefix, 0, prefix.length);
    }

    /** Whether it may do this at all, apart from any document. */
    public boolean may(Permission permission) {
        return !revoked && permissions.contains(permission);
    }

    /** Whether its secret has been withdrawn: it may do nothing, and the client must authenticate again. */
    public boolean revoked() {
        return revoked;
    }

    void revoke() {
        revoked = true;
    }

    boolean sameRights(Principal other) {
        return name.equals(other.name)
                && permissions.equals(other.permissions)
                && Arrays.deepEquals(prefixes, other.prefixes);
    }

    @Override
    public String toString() {
        return name;
    }
}
