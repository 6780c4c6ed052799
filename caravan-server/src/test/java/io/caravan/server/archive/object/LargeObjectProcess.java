package io.caravan.server.archive.object;

import io.caravan.server.archive.S3Server;
import java.io.IOException;
import java.io.InputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.SplittableRandom;

/** A process with a small JVM heap that puts a large object and reads it. */
final class LargeObjectProcess {
    private static final int CHUNK_BYTES = 1 << 20;

    private LargeObjectProcess() {}

    /**
     * Puts and reads an object.
     *
     * @param arguments the URL, the port of the server, and the size in MiB
     */
    public static void main(String[] arguments) throws Exception {
        S3Options options = S3Server.through(Integer.parseInt(arguments[1]));
        MessageDigest written = MessageDigest.getInstance("SHA-256");
        MessageDigest read = MessageDigest.getInstance("SHA-256");
        try (ObjectStore store = ObjectStores.place(arguments[0]).open(options)) {
            store.put("large", out -> {
                DigestOutputStream digested = new DigestOutputStream(out, written);
                byte[] chunk = new byte[CHUNK_BYTES];
                SplittableRandom random = new SplittableRandom(1);
                for (int chunks = Integer.parseInt(arguments[2]); chunks > 0; chunks--) {
                    random.nextBytes(chunk);
                    digested.write(chunk);
                }
            });
            try (InputStream in = store.open("large")) {
                byte[] chunk = new byte[CHUNK_BYTES];
                for (int bytes = in.read(chunk); bytes >= 0; bytes = in.read(chunk)) {
                    read.update(chunk, 0, bytes);
                }
            }
        }
        if (!Arrays.equals(written.digest(), read.digest())) {
            throw new IOException("what was read is not what was written");
        }
    }
}
