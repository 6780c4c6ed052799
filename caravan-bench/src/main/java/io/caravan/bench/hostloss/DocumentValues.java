package io.caravan.bench.hostloss;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/** Names and values of documents, which can be regenerated from the numbers of the document and the value. */
final class DocumentValues {
    /** A document with values so large that it exceeds both a batch of the store and one request to S3. */
    static final int LARGE_DOCUMENT = 0;

    private static final int LARGEST_BYTES = 256 * 1024;
    private static final int LONG_NAME_EVERY = 50;
    private static final int MAX_NAME_BYTES = 1024;
    private static final int ALPHABET = 4;

    private DocumentValues() {}

    /** Returns a name of arbitrary bytes; some names have the maximum length. */
    static byte[] name(int document) {
        byte[] readable = ("doc/" + document + '/').getBytes(StandardCharsets.US_ASCII);
        SplittableRandom random = new SplittableRandom(document);
        int oddBytes = document % LONG_NAME_EVERY == 1 ? MAX_NAME_BYTES - readable.length : 1 + random.nextInt(6);
        byte[] odd = new byte[oddBytes];
        random.nextBytes(odd);
        return ByteBuffer.allocate(readable.length + oddBytes)
                .put(readable)
                .put(odd)
                .array();
    }

    /** Returns the document's value with this number; half of the values are compressible. */
    static byte[] value(int document, long stamp) {
        SplittableRandom random = new SplittableRandom(((long) document << Integer.SIZE) + stamp);
        byte[] value = new byte[length(document, random)];
        random.nextBytes(value);
        if (random.nextBoolean()) {
            for (int i = 0; i < value.length; i++) {
                value[i] = (byte) ('a' + value[i] % ALPHABET);
            }
        }
        return value;
    }

    private static int length(int document, SplittableRandom random) {
        if (document == LARGE_DOCUMENT) {
            return random.nextInt(LARGEST_BYTES / 4, LARGEST_BYTES);
        }
        return switch (random.nextInt(20)) {
            case 0 -> random.nextInt(40_000);
            case 1, 2 -> random.nextInt(4_000);
            case 3 -> 0;
            default -> random.nextInt(8, 300);
        };
    }
}
