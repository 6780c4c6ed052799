package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.object.S3Calls.S3Timeouts;
import io.caravan.server.archive.object.S3Upload.S3Parts;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.UploadPartRequest;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/** Tests which calls the AWS SDK client receives when an upload is aborted. */
class S3CancelTest {
    private static final int PART_BYTES = 100_000;
    private static final int PERMITS = 4;

    private final Semaphore onTheirWay = new Semaphore(PERMITS);
    private final Client client = new Client();
    private final S3Calls calls = new S3Calls(client, "bucket", "", S3Timeouts.DEFAULT, new S3Problems("s3://bucket"));
    private final S3Upload upload =
            new S3Upload(calls, "a", new S3Parts(PART_BYTES, 1_000, PART_BYTES, 1_000), onTheirWay);

    /** A client whose part uploads never finish and whose aborts take 100 ms. */
    private static final class Client implements S3AsyncClient {
        final List<CompletableFuture<UploadPartResponse>> parts = new ArrayList<>();
        final List<CompletableFuture<AbortMultipartUploadResponse>> aborts = new ArrayList<>();
        Supplier<CompletableFuture<UploadPartResponse>> nextPart = CompletableFuture::new;

        @Override
        public CompletableFuture<CreateMultipartUploadResponse> createMultipartUpload(
                CreateMultipartUploadRequest request) {
            return CompletableFuture.completedFuture(
                    CreateMultipartUploadResponse.builder().uploadId("1").build());
        }

        @Override
        public CompletableFuture<UploadPartResponse> uploadPart(UploadPartRequest request, AsyncRequestBody body) {
            parts.add(nextPart.get());
            return parts.get(parts.size() - 1);
        }

        @Override
        public CompletableFuture<AbortMultipartUploadResponse> abortMultipartUpload(
                AbortMultipartUploadRequest request) {
            CompletableFuture<AbortMultipartUploadResponse> response = new CompletableFuture<>();
            aborts.add(response);
            return response.completeOnTimeout(
                    AbortMultipartUploadResponse.builder().build(), 100, TimeUnit.MILLISECONDS);
        }

        @Override
        public String serviceName() {
            return SERVICE_NAME;
        }

        @Override
        public void close() {}
    }

    private void write(int parts) {
        try {
            // Writes one byte more, which starts the upload of the last part.
            upload.write(new byte[parts * PART_BYTES + 1]);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Test
    void abortCancelsPartUploads() {
        write(3);
        assertThat(client.parts).hasSize(3).noneMatch(CompletableFuture::isDone);
        upload.abort();
        assertThat(client.parts).allMatch(CompletableFuture::isCancelled);
        assertThat(onTheirWay.availablePermits()).isEqualTo(PERMITS);
    }

    @Test
    void interruptedCallerStillAborts() {
        write(1);
        Thread.currentThread().interrupt();
        upload.abort();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(client.aborts)
                .singleElement()
                .satisfies(response -> assertThat(response).isCompleted());
    }

    @Test
    void errorReleasesPermits() {
        client.nextPart = () -> {
            throw new StackOverflowError("in a test");
        };
        assertThatThrownBy(() -> write(1)).isInstanceOf(StackOverflowError.class);
        assertThat(onTheirWay.availablePermits()).isEqualTo(PERMITS);
    }

    @Test
    void abortedSdkCallDoesNotInterruptCaller() {
        Thread caller = Thread.currentThread();
        CompletableFuture<Void> response = CompletableFuture.runAsync(() -> {
            Eventually.awaitWaitingOrDone(caller);
            throw AbortedException.create("in a test");
        });
        assertThatThrownBy(() -> calls.await("GetObject", "a", response))
                .isInstanceOfSatisfying(
                        ObjectStoreException.class,
                        failed -> assertThat(failed.kind()).isEqualTo(Kind.UNAVAILABLE));
        assertThat(Thread.interrupted()).isFalse();
    }
}
