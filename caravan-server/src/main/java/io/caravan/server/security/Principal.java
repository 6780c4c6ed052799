package io.caravan.server.security;

import io.caravan.catalog.DocumentName;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Somebody who has shown a secret, and what that allows. Threads share it. It may do nothing any more once its secret has
 * been withdrawn, so whoever keeps one for a connection asks it again for each request.
 */
public final class Principal {
    /** May do everything; stands for every client where no authentication is configured. */
    public static final Principal ANYONE = new Principal("anyone", EnumSet.allOf(Permission.class), List.of());

    /** May do nothing; stands for a client that has shown no valid secret, where one is required. */
    public static final Principal NOBODY = new Principal("nobody", EnumSet.noneOf(Permission.class), List.of());

    private final String name;
    private final Set<Permission> permissions;
    private final List<String> prefixes;
    private final byte[][] prefixBytes;
    private volatile boolean revoked;

    /**
     * Makes a principal.
     *
     * @param prefixes what the names of its documents start with, one of them; none is every document
     */
    Principal(String name, Set<Permission> permissions, List<String> prefixes) {
        this.name = name;
        this.permissions = Set.copyOf(permissions);
        this.prefixes = List.copyOf(prefixes);
        this.prefixBytes = prefixes.stream()
                .map(prefix -> prefix.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /** What the operator calls it; fit for logs. */
    public String name() {
        return name;
    }

    /** Whether it may do this to this document. */
    public boolean may(Permission permission, DocumentName document) {
        return may(permission) && hasPrefix(document);
    }

    /** Whether it may do this where it is not about one document. */
    public boolean may(Permission permission) {
        return !revoked && permissions.contains(permission);
    }

    private boolean hasPrefix(DocumentName document) {
        for (byte[] prefix : prefixBytes) {
            if (document.startsWith(prefix)) {
                return true;
            }
        }
        return prefixBytes.length == 0;
    }

    /** Whether its secret is no longer valid; then it may do nothing, and must authenticate again. */
    public boolean revoked() {
        return revoked;
    }

    void revoke() {
        revoked = true;
    }

    boolean sameRights(Principal other) {
        return name.equals(other.name) && permissions.equals(other.permissions) && prefixes.equals(other.prefixes);
    }

    @Override
    public String toString() {
        return name;
    }
}
