package io.caravan.server.archive.object;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;

/** Hashes of what is archived. */
public final class Digests {
    private static final int CHUNK_BYTES = 64 * 1024;

    private Digests() {}

    /** A new SHA-256. */
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

    /** The SHA-256 of some bytes, in hexadecimal digits. */
    static String sha256(byte[] content) {
        return HexFormat.of().formatHex(sha256().digest(content));
    }

    /** The SHA-256 of the rest of a stream, in hexadecimal digits. */
    static String sha256(InputStream in) throws IOException {
        MessageDigest digest = sha256();
        byte[] chunk = new byte[CHUNK_BYTES];
        for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
            digest.update(chunk, 0, read);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /**
     * The MD5 of the first bytes, in Base64, as S3 wants it in {@code Content-MD5}: a server refuses a body that was
     * changed on its way. Every server knows this oldest kind of checksum.
     */
    static String md5(byte[] content, int length) {
        MessageDigest digest = digest("MD5");
        digest.update(content, 0, length);
        return Base64.getEncoder().encodeToString(digest.digest());
    }
}
