package io.caravan.server.archive;

import java.io.InputStream;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.blobstore.ForwardingBlobStore;
import org.gaul.s3proxy.blobstore.S3Exceptions;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/**
 * A blob store that evaluates conditions atomically, as S3 does. The underlying store checks a condition and writes in
 * two steps.
 */
final class ExactBlobStore extends ForwardingBlobStore {
    private static final int PRECONDITION_FAILED = 412;

    private final Object turn = new Object();

    ExactBlobStore(BlobStore blobs) {
        super(blobs);
    }

    @Override
    public PutObjectResponse putBlob(PutObjectRequest request, InputStream content) {
        if (request.ifMatch() == null && request.ifNoneMatch() == null) {
            return super.putBlob(request, content);
        }
        synchronized (turn) {
            String tag = request.ifMatch();
            if (tag != null && !unquoted(tag).equals(currentTag(request))) {
                throw S3Exceptions.fromStatusCode(PRECONDITION_FAILED);
            }
            return super.putBlob(request, content);
        }
    }

    private @Nullable String currentTag(PutObjectRequest request) {
        HeadObjectResponse now = blobMetadataIfPresent(request.bucket(), request.key());
        return now == null ? null : unquoted(now.eTag());
    }

    private static String unquoted(String tag) {
        return tag.replace("\"", "");
    }

    @Override
    public DeleteObjectResponse removeBlob(DeleteObjectRequest request) {
        synchronized (turn) {
            String tag = request.ifMatch();
            if (tag != null) {
                HeadObjectResponse now = blobMetadataIfPresent(request.bucket(), request.key());
                if (now == null || !unquoted(tag).equals(unquoted(now.eTag()))) {
                    throw S3Exceptions.fromStatusCode(PRECONDITION_FAILED);
                }
            }
            return super.removeBlob(request);
        }
    }
}
