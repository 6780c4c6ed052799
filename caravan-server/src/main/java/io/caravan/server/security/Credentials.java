package io.caravan.server.security;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The secrets that are valid at one moment, as SHA-256 digests. Immutable. */
final class Credentials {
    private final List<Credential> all;

    /** The digest of a secret, and its principal. */
    record Credential(byte[] digest, Principal principal) {
        boolean same(Credential other) {
            return Arrays.equals(digest, other.digest) && principal.sameRights(other.principal);
        }
    }

    Credentials(List<Credential> all) {
        this.all = List.copyOf(all);
    }

    static Credentials ofPassword(byte[] password) {
        Principal everything = new Principal(Authenticator.DEFAULT_USER, EnumSet.allOf(Permission.class), List.of());
        return new Credentials(List.of(new Credential(digest(password), everything)));
    }

    static byte[] digest(byte[] secret) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(secret);
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every Java has SHA-256", impossible);
        }
    }

    /** Returns the principal of a secret, or null. Compares every credential, so that the duration reveals nothing. */
    @Nullable
    Principal find(String user, byte[] secret) {
        byte[] digest = digest(secret);
        Principal found = null;
        for (Credential candidate : all) {
            boolean rightSecret = MessageDigest.isEqual(candidate.digest(), digest);
            boolean rightUser = user.equals(Authenticator.DEFAULT_USER)
                    | user.equals(candidate.principal().name());
            found = rightSecret & rightUser ? candidate.principal() : found;
        }
        return found;
    }

    /** Returns these credentials as a replacement: unchanged ones keep their principals, missing ones are revoked. */
    Credentials replacing(Credentials others) {
        Credentials merged = new Credentials(all.stream().map(others::sameOr).toList());
        for (Credential other : others.all) {
            if (!merged.all.contains(other)) {
                other.principal().revoke();
            }
        }
        return merged;
    }

    private Credential sameOr(Credential credential) {
        return all.stream().filter(credential::same).findFirst().orElse(credential);
    }

    int size() {
        return all.size();
    }
}
