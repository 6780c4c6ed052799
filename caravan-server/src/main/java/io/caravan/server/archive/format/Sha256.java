package io.caravan.server.archive.format;

import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** The hash that names and objects of an archive have. */
final class Sha256 {
    static final int BYTES = 32;

    private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

    private Sha256() {}

    /** The hash of what the digest has been given so far; more may follow. */
    static byte[] soFar(MessageDigest digest) {
        try {
            return ((MessageDigest) digest.clone()).digest();
        } catch (CloneNotSupportedException unsupported) {
            throw new IllegalStateException("the SHA-256 of this Java cannot be read in between", unsupported);
        }
    }

    static String hex(byte[] hash) {
        return HexFormat.of().formatHex(hash);
    }

    /** Whether this is a hash as {@link #hex} writes it. */
    static boolean isHex(String text) {
        return HEX.matcher(text).matches();
    }
}
