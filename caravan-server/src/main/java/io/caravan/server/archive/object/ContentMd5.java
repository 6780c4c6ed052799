package io.caravan.server.archive.object;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** What S3 is told of a body, so that it refuses one that has changed on its way. All servers know this oldest way. */
final class ContentMd5 {
    private ContentMd5() {}

    static String of(byte[] content) {
        return of(content, content.length);
    }

    /** Of the first bytes. */
    static String of(byte[] content, int length) {
        MessageDigest digest = md5();
        digest.update(content, 0, length);
        return Base64.getEncoder().encodeToString(digest.digest());
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java has MD5", missing);
        }
    }
}
