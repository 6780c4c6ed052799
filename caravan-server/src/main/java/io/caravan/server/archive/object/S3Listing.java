package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStore.Listed;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Goes through a folder of a bucket, page by page. What has no key of an archive is passed over. */
final class S3Listing {
    private final S3Calls calls;
    private final String folder;

    /** @param folder empty, or a key's parts, each with its slash */
    S3Listing(S3Calls calls, String folder) {
        this.calls = calls;
        this.folder = folder;
    }

    /** See {@link ObjectStore#list}. */
    void run(String after, Predicate<Listed> action) {
        String continuation = null;
        do {
            ListObjectsV2Response page = page(after, continuation);
            for (S3Object object : page.contents()) {
                Listed listed = listed(object);
                if (ObjectKeys.isKey(listed.key()) && !action.test(listed)) {
                    return;
                }
            }
            continuation = Boolean.TRUE.equals(page.isTruncated()) ? page.nextContinuationToken() : null;
        } while (continuation != null);
    }

    private ListObjectsV2Response page(String after, @Nullable String continuation) {
        ListObjectsV2Request.Builder request =
                ListObjectsV2Request.builder().bucket(calls.bucket()).prefix(calls.inBucket(folder));
        if (continuation != null) {
            request.continuationToken(continuation);
        } else if (!after.isEmpty()) {
            request.startAfter(calls.inBucket(after));
        }
        return calls.await("ListObjectsV2", folder, calls.client().listObjectsV2(request.build()));
    }

    private Listed listed(S3Object object) {
        return new Listed(
                calls.inPrefix(object.key()),
                object.size(),
                object.lastModified().toEpochMilli());
    }
}
