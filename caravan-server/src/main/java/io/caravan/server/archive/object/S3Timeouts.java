package io.caravan.server.archive.object;

import java.time.Duration;

/**
 * How long calls may take.
 *
 * @param connect until a connection stands
 * @param idle without a byte either way, in the middle of a request or an answer
 * @param attempt for one attempt of a call, beside what its bytes need
 * @param bytesPerSecond the slowest that bytes may come or go
 * @param attempts how often a call is made before it has failed
 */
record S3Timeouts(Duration connect, Duration idle, Duration attempt, long bytesPerSecond, int attempts) {
    static final S3Timeouts DEFAULT =
            new S3Timeouts(Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofSeconds(15), 128 * 1024, 4);

    /** For one attempt of a call of so many bytes. */
    Duration attempt(long bytes) {
        return attempt.plusMillis(bytes * 1000 / bytesPerSecond);
    }

    /** For a call of so many bytes, with all its attempts and the pauses between them. */
    Duration call(long bytes) {
        return attempt(bytes).multipliedBy(attempts);
    }
}
