package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/**
 * Makes calls to one bucket and waits for their responses.
 *
 * @param prefix the start of all keys in the bucket, empty or with a slash at its end
 */
record S3Calls(S3AsyncClient client, String bucket, String prefix, S3Timeouts timeouts, S3Problems problems) {
    /** The size of the pieces in which a body is sent. The idle timeout applies to each piece. */
    private static final int PIECE_BYTES = 64 * 1024;

    String inBucket(String key) {
        return prefix + key;
    }

    /** Puts an object in one call; the last arguments are S3's conditions, or null. */
    PutObjectResponse put(String key, byte[] content, @Nullable String ifNoneMatch, @Nullable String ifMatch) {
        return await(
                "PutObject",
                key,
                client.putObject(
                        request -> request.bucket(bucket)
                                .key(inBucket(key))
                                .contentLength((long) content.length)
                                .contentMD5(Digests.md5(content))
                                .ifNoneMatch(ifNoneMatch)
                                .ifMatch(ifMatch)
                                .overrideConfiguration(limit(content.length)),
                        body(content)));
    }

    /** Returns a request body with the bytes of an array, which must not change before the call has ended. */
    static AsyncRequestBody body(byte[] content) {
        ByteBuffer[] pieces = new ByteBuffer[Math.max(1, (content.length + PIECE_BYTES - 1) / PIECE_BYTES)];
        for (int piece = 0; piece < pieces.length; piece++) {
            int from = piece * PIECE_BYTES;
            pieces[piece] = ByteBuffer.wrap(content, from, Math.min(PIECE_BYTES, content.length - from));
        }
        return AsyncRequestBody.fromRemainingByteBuffersUnsafe(pieces);
    }

    void delete(String key, @Nullable String tag) {
        await(
                "DeleteObject",
                key,
                client.deleteObject(
                        request -> request.bucket(bucket).key(inBucket(key)).ifMatch(tag)));
    }

    /** Returns the time limits for a call that sends this number of bytes. */
    AwsRequestOverrideConfiguration limit(long bytes) {
        return AwsRequestOverrideConfiguration.builder()
                .apiCallAttemptTimeout(timeouts.attempt(bytes))
                .apiCallTimeout(timeouts.call(bytes))
                .build();
    }

    /** Waits for a response. Interrupting the caller cancels the call. */
    <T> T await(String call, String key, CompletableFuture<T> response) {
        boolean endedHere = response.isDone();
        try {
            return response.get();
        } catch (InterruptedException interrupted) {
            response.cancel(true);
            Thread.currentThread().interrupt();
            throw problems.of(Kind.UNAVAILABLE, call, key, "interrupted", interrupted);
        } catch (CancellationException cancelled) {
            throw problems.of(Kind.UNAVAILABLE, call, key, "cancelled", cancelled);
        } catch (ExecutionException failed) {
            Throwable cause = failed.getCause() == null ? failed : failed.getCause();
            if (endedHere && S3Problems.isInterruption(cause)) {
                // The SDK has detected the interrupt on this thread and cleared the flag, which callers need. If a call
                // fails this way later, an SDK thread was interrupted.
                Thread.currentThread().interrupt();
            }
            throw problems.problem(call, key, cause);
        }
    }

    /**
     * The time limits of S3 calls. {@code idle} detects stalls. {@code bytesPerSecond} only ensures that every call
     * ends; it is low enough to send several parts at a time over a slow line.
     *
     * @param connect time until a connection is established
     * @param idle time without a byte in either direction, within a request or a response
     * @param attempt time of one attempt of a call, in addition to the time for the bytes that it sends
     * @param bytesPerSecond the minimum rate at which bytes are sent
     * @param attempts number of attempts before a call has failed
     */
    record S3Timeouts(Duration connect, Duration idle, Duration attempt, long bytesPerSecond, int attempts) {
        static final S3Timeouts DEFAULT =
                new S3Timeouts(Duration.ofSeconds(5), Duration.ofMinutes(1), Duration.ofSeconds(15), 16 * 1024, 4);

        /** Returns the limit for one attempt of a call that sends this number of bytes. */
        Duration attempt(long bytes) {
            return attempt.plusMillis(bytes * 1000 / bytesPerSecond);
        }

        /** Returns the limit for a call that sends this number of bytes, including all attempts and pauses. */
        Duration call(long bytes) {
            return attempt(bytes).multipliedBy(attempts);
        }
    }
}
