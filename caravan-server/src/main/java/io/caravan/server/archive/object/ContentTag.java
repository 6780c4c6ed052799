package io.caravan.server.archive.object;

import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Tags of what has none by itself: the SHA-256 of the content. */
final class ContentTag {
    private static final int CHUNK_BYTES = 64 * 1024;

    private ContentTag() {}

    static String of(byte[] content) {
        return HexFormat.of().formatHex(sha256().digest(content));
    }

    /** The tag of what a stream has from here on. */
    static String of(InputStream in) throws IOException {
        MessageDigest digest = sha256();
        byte[] chunk = new byte[CHUNK_BYTES];
        for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
            digest.update(chunk, 0, read);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java has SHA-256", missing);
        }
    }
}
