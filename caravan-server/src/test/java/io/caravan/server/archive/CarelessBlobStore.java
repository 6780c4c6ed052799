package io.caravan.server.archive;

import java.io.InputStream;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.blobstore.ForwardingBlobStore;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/** Does not know {@code If-None-Match} and puts all the same, as servers do that are older than it. */
final class CarelessBlobStore extends ForwardingBlobStore {
    CarelessBlobStore(BlobStore blobs) {
        super(blobs);
    }

    @Override
    public PutObjectResponse putBlob(PutObjectRequest request, InputStream content) {
        return super.putBlob(request.toBuilder().ifNoneMatch(null).build(), content);
    }
}
