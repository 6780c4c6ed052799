package io.caravan.server.document;

import java.nio.charset.StandardCharsets;

/**
 * An append as its producer numbers it, so that one that is sent again is not made again.
 *
 * @param id names the producer, across its restarts; 1 to {@value #MAX_ID_BYTES} bytes of UTF-8
 * @param epoch rises with each restart of the producer; zero or more
 * @param sequence rises by one per request within an epoch, from 0 on
 */
public record Producer(String id, long epoch, long sequence) {
    /** Greatest length of an id, in bytes. */
    public static final int MAX_ID_BYTES = 256;

    /**
     * Checks the figures.
     *
     * @throws IllegalArgumentException when one is out of its range
     */
    public Producer {
        int bytes = id.getBytes(StandardCharsets.UTF_8).length;
        if (bytes < 1 || bytes > MAX_ID_BYTES) {
            throw new IllegalArgumentException(
                    "a producer's id must be of 1 to " + MAX_ID_BYTES + " bytes, was of " + bytes);
        }
        if (epoch < 0 || sequence < 0) {
            throw new IllegalArgumentException("a producer's epoch and sequence must not be negative");
        }
    }
}
