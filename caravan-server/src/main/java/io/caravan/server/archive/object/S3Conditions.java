package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/**
 * Puts and deletions on a condition, by S3's {@code If-Match} and {@code If-None-Match}.
 *
 * <p>There are servers that do not know these and do what they are asked all the same. An archive on one of them would
 * not notice a second owner, so before the first put of each store the server must refuse two, of an object that nobody
 * else knows. So when it does not, nothing that matters has been put.
 */
final class S3Conditions {
    private static final Logger LOG = LoggerFactory.getLogger(S3Conditions.class);

    /** What the keys begin with of objects that are there for a moment. */
    static final String SCRATCH = "conditions-";

    private static final byte[] SCRATCH_CONTENT = {'c'};

    private final S3Calls calls;
    /** True once the server has refused what it must refuse. A race asks it twice. */
    private volatile boolean keptByServer;

    S3Conditions(S3Calls calls) {
        this.calls = calls;
    }

    /** See {@link ObjectStore#putIf}. */
    String put(String key, byte[] content, @Nullable String tag) {
        if (!keptByServer) {
            checkServer();
            keptByServer = true;
        }
        return tryPut(key, content, tag);
    }

    private void checkServer() {
        String key = SCRATCH + UUID.randomUUID();
        try {
            String tag = send(key, SCRATCH_CONTENT, put -> {});
            checkRefused(key, null, "If-None-Match");
            checkRefused(key, otherThan(tag), "If-Match");
        } finally {
            removeIfPermitted(key);
        }
    }

    private void checkRefused(String key, @Nullable String wrongTag, String condition) {
        try {
            tryPut(key, SCRATCH_CONTENT, wrongTag);
        } catch (ObjectStoreException refused) {
            if (refused.kind() == Kind.CONFLICT) {
                return;
            }
            throw refused;
        }
        String why = "this server ignores " + condition
                + ", so two servers on one archive would not notice each other: use another one";
        throw calls.problems().of(Kind.CORRUPT, "PutObject", key, why, null);
    }

    /** Who archives need not be permitted to delete, and a byte that stays harms nobody: an error is none. */
    private void removeIfPermitted(String key) {
        try {
            calls.await(
                    "DeleteObject",
                    key,
                    calls.client()
                            .deleteObject(
                                    request -> request.bucket(calls.bucket()).key(calls.inBucket(key))));
        } catch (ObjectStoreException stays) {
            LOG.debug("an object of the check for conditions stays", stays);
        }
    }

    private String tryPut(String key, byte[] content, @Nullable String tag) {
        try {
            return send(key, content, put -> {
                if (tag == null) {
                    put.ifNoneMatch("*");
                } else {
                    put.ifMatch(tag);
                }
            });
        } catch (ObjectStoreException failed) {
            if (tag != null && S3Problems.isNoSuchObject(failed)) {
                throw conflict("PutObject", key, "it has been deleted meanwhile", failed);
            }
            throw failed;
        }
    }

    private String send(String key, byte[] content, Consumer<PutObjectRequest.Builder> condition) {
        PutObjectRequest.Builder request = PutObjectRequest.builder()
                .bucket(calls.bucket())
                .key(calls.inBucket(key))
                .contentLength((long) content.length)
                .contentMD5(Digests.md5(content, content.length))
                .overrideConfiguration(calls.limit(content.length));
        condition.accept(request);
        AsyncRequestBody body = AsyncRequestBody.fromBytesUnsafe(content);
        PutObjectResponse done = calls.await("PutObject", key, calls.client().putObject(request.build(), body));
        return tag("PutObject", key, done.eTag());
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
