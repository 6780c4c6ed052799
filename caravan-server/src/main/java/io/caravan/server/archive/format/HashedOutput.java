package io.caravan.server.archive.format;

import io.caravan.server.archive.object.Digests;
import java.io.IOException;
import java.io.OutputStream;
import java.security.MessageDigest;

/** Counts and hashes what it passes on. Not for several threads. */
final class HashedOutput {
    private final OutputStream out;
    private final MessageDigest digest = Digests.sha256();
    private long bytes;

    HashedOutput(OutputStream out) {
        this.out = out;
    }

    void write(byte[] source, int from, int length) throws IOException {
        digest.update(source, from, length);
        bytes += length;
        out.write(source, from, length);
    }

    /** Bytes so far. */
    long bytes() {
        return bytes;
    }

    /** Hash of the bytes so far. */
    byte[] sha256() {
        return Sha256.soFar(digest);
    }
}
