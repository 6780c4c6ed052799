package io.caravan.server.archive.object;

import java.time.Duration;

/**
 * How long calls may take. What stalls is noticed by {@code idle}; the time for bytes is only there so that no call lasts for
 * ever, and is enough for several parts at a time on a slow line.
 *
 * @param connect until a connection stands
 * @param idle without a byte either way, in the middle of a request or an answer
 * @param attempt for one attempt of a call, beside what the bytes that are sent need
 * @param bytesPerSecond the slowest that bytes may go
 * @param attempts how often a call is made before it has failed
 */
record S3Timeouts(Duration connect, Duration idle, Duration attempt, long bytesPerSecond, int attempts) {
    static final S3Timeouts DEFAULT =
            new S3Timeouts(Duration.ofSeconds(5), Duration.ofMinutes(1), Duration.ofSeconds(15), 16 * 1024, 4);

    /** For one attempt of a call that sends so many bytes. */
    Duration attempt(long bytes) {
        return attempt.plusMillis(bytes * 1000 / bytesPerSecond);
    }

    /** For a call that sends so many bytes, with all its attempts and the pauses between them. */
    Duration call(long bytes) {
        return attempt(bytes).multipliedBy(attempts);
    }
}
