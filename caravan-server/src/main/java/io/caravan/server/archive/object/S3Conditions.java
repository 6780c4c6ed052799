package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/**
 * Puts and deletions on a condition, by S3's {@code If-Match} and {@code If-None-Match}.
 *
 * <p>There are servers that ignore these. An archive on one of them would not notice a second owner. So before the first
 * put on a condition, the server must refuse two puts of an object that nobody else knows: when it does not, nothing that
 * matters has been put.
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

    /** A tag of the same form that no content has which is put here. */
    private static String otherThan(String tag) {
        String zeros = "\"" + "0".repeat(32) + "\"";
        return tag.equals(zeros) ? zeros.replace('0', '1') : zeros;
    }

    /** An archive's credentials need not permit deletions, and a byte that stays harms nobody: an error is none. */
    private void removeIfPermitted(String key) {
        try {
            calls.delete(key, null);
        } catch (ObjectStoreException stays) {
            LOG.debug("an object of the check for conditions stays", stays);
        }
    }

    private String tryPut(String key, byte[] content, @Nullable String tag) {
        try {
            return send(key, content, put -> put.ifNoneMatch(tag == null ? "*" : null).ifMatch(tag));
        } catch (ObjectStoreException failed) {
            if (tag != null && S3Problems.isNoSuchObject(failed)) {
                throw conflict("PutObject", key, "it has been deleted meanwhile", failed);
            }
            throw failed;
        }
    }

    private String send(String key, byte[] content, Consumer<PutObjectRequest.Builder> condition) {
        return tag("PutObject", key, calls.put(key, content, content.length, condition).eTag());
    }

    /** See {@link ObjectStore#deleteIf}. Looks first, for servers that ignore the condition of a deletion. */
    void delete(String key, String tag) {
        try {
            if (!tag.equals(currentTag(key))) {
                throw conflict("DeleteObject", key, "it has changed meanwhile", null);
            }
            calls.delete(key, tag);
        } catch (ObjectStoreException failed) {
            if (S3Problems.isNoSuchObject(failed)) {
                throw conflict("DeleteObject", key, "it has been deleted meanwhile", failed);
            }
            throw failed;
        }
    }

    private @Nullable String currentTag(String key) {
        return calls.await(
                        "HeadObject",
                        key,
                        calls.client()
                                .headObject(request ->
                                        request.bucket(calls.bucket()).key(calls.inBucket(key))))
                .eTag();
    }

    private ObjectStoreException conflict(String call, String key, String why, @Nullable Throwable cause) {
        return calls.problems().of(Kind.CONFLICT, call, key, why, cause);
    }

    /** The tag of an answer, which must have one. */
    String tag(String call, String key, @Nullable String tag) {
        if (tag == null || tag.isEmpty()) {
            String why = "the server names no ETag, without which an archive does not know what has changed";
            throw calls.problems().of(Kind.CORRUPT, call, key, why, null);
        }
        return tag;
    }
}
