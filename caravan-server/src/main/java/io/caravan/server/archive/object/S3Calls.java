package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/** Makes calls to one bucket and waits for their answers. */
final class S3Calls {
    private final S3AsyncClient client;
    private final String bucket;
    private final String prefix;
    private final S3Timeouts timeouts;
    private final S3Problems problems;

    S3Calls(S3AsyncClient client, String bucket, String prefix, S3Timeouts timeouts, S3Problems problems) {
        this.client = client;
        this.bucket = bucket;
        this.prefix = prefix;
        this.timeouts = timeouts;
        this.problems = problems;
    }

    S3AsyncClient client() {
        return client;
    }

    String bucket() {
        return bucket;
    }

    /** What S3 calls an object, or a folder of them. */
    String inBucket(String key) {
        return prefix + key;
    }

    /** What we call an object that S3 has in the prefix. */
    String inPrefix(String key) {
        return key.substring(prefix.length());
    }

    S3Problems problems() {
        return problems;
    }

    /** The time that a call gets that sends so many bytes. */
    AwsRequestOverrideConfiguration limit(long bytes) {
        return AwsRequestOverrideConfiguration.builder()
                .apiCallAttemptTimeout(timeouts.attempt(bytes))
                .apiCallTimeout(timeouts.call(bytes))
                .build();
    }

    /** The time of a single attempt, for all of a call that nobody should have to wait for. */
    AwsRequestOverrideConfiguration once() {
        return AwsRequestOverrideConfiguration.builder()
                .apiCallTimeout(timeouts.attempt(0))
                .build();
    }

    /** Waits for an answer. A caller that is interrupted gives the call up. */
    <T> T await(String call, String key, CompletableFuture<T> answer) {
        boolean endedHere = answer.isDone();
        try {
            return answer.get();
        } catch (InterruptedException interrupted) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw problems.of(Kind.UNAVAILABLE, call, key, "interrupted", interrupted);
        } catch (CancellationException cancelled) {
            throw problems.of(Kind.UNAVAILABLE, call, key, "cancelled", cancelled);
        } catch (ExecutionException failed) {
            Throwable cause = failed.getCause() == null ? failed : failed.getCause();
            if (endedHere && S3Problems.isInterruption(cause)) {
                // On this thread the SDK has taken note of the interrupt, and with it the note that others are to see.
                // What it tells of later has happened to a thread of its own.
                Thread.currentThread().interrupt();
            }
            throw problems.problem(call, key, cause);
        }
    }

    /**
     * How long calls may take. What stalls is noticed by {@code idle}; the time for bytes is only there so that no call
     * lasts for ever, and is enough for several parts at a time on a slow line.
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
}
