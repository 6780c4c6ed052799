package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/**
 * Puts and deletions on a condition, by S3's {@code If-Match} and {@code If-None-Match}.
 *
 * <p>There are servers that do not know these and do what they are asked all the same. An archive on one of them would not
 * notice a second owner, so the first put of each store is followed by two that must be refused.
 */
final class S3Conditions {
    private final S3Calls calls;
    /** True once the server has refused what it must refuse. A race asks it twice. */
    private volatile boolean keptByServer;

    S3Conditions(S3Calls calls) {
        this.calls = calls;
    }

    /** See {@link ObjectStore#putIf}. */
    String put(String key, byte[] content, @Nullable String tag) {
        String now = tryPut(key, content, tag);
        if (!keptByServer) {
            checkServer(key, content, now);
            keptByServer = true;
        }
        return now;
    }

    private String tryPut(String key, byte[] content, @Nullable String tag) {
        PutObjectRequest.Builder request = PutObjectRequest.builder()
                .bucket(calls.bucket())
                .key(calls.inBucket(key))
                .contentLength((long) content.length)
                .contentMD5(ContentMd5.of(content))
                .overrideConfiguration(calls.limit(content.length));
        if (tag == null) {
            request.ifNoneMatch("*");
        } else {
            request.ifMatch(tag);
        }
        try {
            AsyncRequestBody body = AsyncRequestBody.fromBytesUnsafe(content);
            return tag(
                    "PutObject",
                    key,
                    calls.await("PutObject", key, calls.client().putObject(request.build(), body))
                            .eTag());
        } catch (ObjectStoreException failed) {
            if (tag != null && S3Problems.isNoSuchObject(failed)) {
                throw conflict("PutObject", key, "it has been deleted meanwhile", failed);
            }
            throw failed;
        }
    }

    private void checkServer(String key, byte[] content, String tag) {
        boolean replaces = isDone(key, content, null);
        boolean mistakes = isDone(key, content, otherThan(tag));
        if (replaces || mistakes) {
            String why = "this server ignores " + (replaces ? "If-None-Match" : "If-Match")
                    + ", so two servers on one archive would not notice each other: use another one";
            throw calls.problems().of(Kind.CORRUPT, "PutObject", key, why, null);
        }
    }

    private boolean isDone(String key, byte[] content, @Nullable String wrongTag) {
        try {
            tryPut(key, content, wrongTag);
            return true;
        } catch (ObjectStoreException refused) {
            if (refused.kind() == Kind.CONFLICT) {
                return false;
            }
            throw refused;
        }
    }

    /** A tag of the same form that no content has which is put here. */
    private static String otherThan(String tag) {
        String zeros = "\"" + "0".repeat(32) + "\"";
        return tag.equals(zeros) ? zeros.replace('0', '1') : zeros;
    }

    /** See {@link ObjectStore#deleteIf}. Looks first, for servers that ignore the condition of a deletion. */
    void delete(String key, String tag) {
        if (!tag.equals(currentTag(key))) {
            throw conflict("DeleteObject", key, "it has changed meanwhile", null);
        }
        try {
            calls.await(
                    "DeleteObject",
                    key,
                    calls.client()
                            .deleteObject(DeleteObjectRequest.builder()
                                    .bucket(calls.bucket())
                                    .key(calls.inBucket(key))
                                    .ifMatch(tag)
                                    .build()));
        } catch (ObjectStoreException failed) {
            if (S3Problems.isNoSuchObject(failed)) {
                throw conflict("DeleteObject", key, "it has been deleted meanwhile", failed);
            }
            throw failed;
        }
    }

    private @Nullable String currentTag(String key) {
        try {
            return calls.await(
                            "HeadObject",
                            key,
                            calls.client()
                                    .headObject(request ->
                                            request.bucket(calls.bucket()).key(calls.inBucket(key))))
                    .eTag();
        } catch (ObjectStoreException failed) {
            if (S3Problems.isNoSuchObject(failed)) {
                return null;
            }
            throw failed;
        }
    }

    private ObjectStoreException conflict(String call, String key, String why, @Nullable Throwable cause) {
        return calls.problems().of(Kind.CONFLICT, call, key, why, cause);
    }

    /** A tag that was answered, which it must be. */
    String tag(String call, String key, @Nullable String tag) {
        if (tag == null || tag.isEmpty()) {
            String why = "the server names no ETag, without which an archive does not know what has changed";
            throw calls.problems().of(Kind.CORRUPT, call, key, why, null);
        }
        return tag;
    }
}
