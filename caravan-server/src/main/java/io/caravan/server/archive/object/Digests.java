package io.caravan.server.archive.object;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;

/** Computes the hashes of an archive's names and objects. */
public final class Digests {
    public static final int SHA256_BYTES = 32;

    private Digests() {}

    public static MessageDigest sha256() {
        return digest("SHA-256");
    }

    private static MessageDigest digest(String algorithm) {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has " + algorithm, impossible);
        }
    }

    /** Returns the hash of the digest's input so far; more input may follow. */
    public static byte[] soFar(MessageDigest digest) {
        try {
            return ((MessageDigest) digest.clone()).digest();
        } catch (CloneNotSupportedException unsupported) {
            throw new IllegalStateException("the SHA-256 implementation of this JVM cannot be cloned", unsupported);
        }
    }

    public static String hex(byte[] hash) {
        return HexFormat.of().formatHex(hash);
    }

    /**
     * Returns the MD5 hash in Base64, for S3's {@code Content-MD5}, so that a server rejects a body that was changed in
     * transit. Every server supports this oldest kind of checksum.
     */
    static String md5(byte[] content) {
        return Base64.getEncoder().encodeToString(digest("MD5").digest(content));
    }
}
