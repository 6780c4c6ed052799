package io.caravan.server.archive.object;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/** Takes an answer's bytes into memory, unless it says beforehand that they are more than may be. */
final class LimitedBytes implements AsyncResponseTransformer<GetObjectResponse, ResponseBytes<GetObjectResponse>> {
    private final AsyncResponseTransformer<GetObjectResponse, ResponseBytes<GetObjectResponse>> bytes =
            AsyncResponseTransformer.toBytes();
    private final int maxBytes;

    LimitedBytes(int maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** There are more bytes than may be. */
    static final class TooManyBytesException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooManyBytesException(String message) {
            super(message);
        }
    }

    @Override
    public CompletableFuture<ResponseBytes<GetObjectResponse>> prepare() {
        return bytes.prepare();
    }

    @Override
    public void onResponse(GetObjectResponse response) {
        Long length = response.contentLength();
        if (length == null || length > maxBytes) {
            throw new TooManyBytesException("it has " + (length == null ? "an unknown number of" : length)
                    + " bytes, and cannot have more than " + maxBytes);
        }
        bytes.onResponse(response);
    }

    @Override
    public void onStream(SdkPublisher<ByteBuffer> publisher) {
        bytes.onStream(publisher);
    }

    @Override
    public void exceptionOccurred(Throwable error) {
        bytes.exceptionOccurred(error);
    }
}
