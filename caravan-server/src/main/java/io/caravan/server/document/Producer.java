package io.caravan.server.document;

import java.nio.charset.StandardCharsets;

/**
 * Identifies an append by a producer, so that a repeated request is not executed again.
 *
 * @param id identifies the producer across restarts; 1 to {@value #MAX_ID_BYTES} bytes of UTF-8
 * @param epoch the epoch, which increases with each restart of the producer; zero or more
 * @param sequence the sequence within the epoch, which starts at 0 and increases by one with each request
 */
public record Producer(String id, long epoch, long sequence) {
    public static final int MAX_ID_BYTES = 256;

    public Producer {
        int bytes = id.getBytes(StandardCharsets.UTF_8).length;
        if (bytes < 1 || bytes > MAX_ID_BYTES) {
            throw new IllegalArgumentException(
                    "a producer's id must have 1 to " + MAX_ID_BYTES + " bytes, has " + bytes);
        }
        if (epoch < 0 || sequence < 0) {
            throw new IllegalArgumentException("a producer's epoch and sequence must not be negative");
        }
    }
}
