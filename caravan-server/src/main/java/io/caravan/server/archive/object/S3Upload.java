package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/**
 * Receives an object's bytes and puts them: in one call when they fit in one part, otherwise in parts, several at a
 * time. The part that is being filled and those in flight are in memory. All uploads of a store share a limit on the
 * parts in flight.
 *
 * <p>The SDK's multipart client (as of 2.56) cannot replace this class. It omits the {@code Content-MD5} with which a
 * server rejects a part that was damaged in transit. It also limits the memory of each upload instead of all uploads
 * together.
 *
 * <p>Not thread-safe. {@link #finish} puts the bytes that were written; {@link #abort} leaves the previous state.
 */
final class S3Upload extends OutputStream {
    private static final int FIRST_BYTES = 8 * 1024;

    private final S3Calls calls;
    private final String key;
    private final S3Parts parts;
    private final Semaphore onTheirWay;
    /** The part that is being filled. */
    private final ByteArrayOutputStream part = new ByteArrayOutputStream(FIRST_BYTES);

    private boolean finished;
    /** The id of the multipart upload; null while all bytes fit in one part. */
    private @Nullable String upload;

    /** The parts that are or were in flight. */
    private final List<CompletableFuture<UploadPartResponse>> sent = new ArrayList<>();

    /** @param onTheirWay has a permit for every {@link S3Parts#smallBytes} that may be in flight */
    S3Upload(S3Calls calls, String key, S3Parts parts, Semaphore onTheirWay) {
        this.calls = calls;
        this.key = key;
        this.parts = parts;
        this.onTheirWay = onTheirWay;
    }

    @Override
    public void write(int value) {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        int fits;
        for (int written = 0; written < length; written += fits) {
            int partBytes = parts.bytesOf(sent.size() + 1);
            if (part.size() == partBytes) {
                send();
                partBytes = parts.bytesOf(sent.size() + 1);
            }
            fits = Math.min(length - written, partBytes - part.size());
            part.write(bytes, offset + written, fits);
        }
    }

    /**
     * Sends the current part. Waits for earlier parts while too much data is in flight, and throws if one of them has
     * failed.
     */
    private void send() {
        int number = sent.size() + 1;
        if (number > parts.maxParts()) {
            String why = "it has more than " + parts.maxParts() + " parts, the maximum of S3";
            throw calls.problems().of(Kind.CORRUPT, "UploadPart", key, why, null);
        }
        String id = upload == null ? begin() : upload;
        int permits = parts.permitsOf(number);
        acquire(permits);
        CompletableFuture<UploadPartResponse> call;
        try {
            call = start(id, number, part.toByteArray());
        } catch (RuntimeException rejected) {
            call = CompletableFuture.failedFuture(rejected);
        } catch (Error failed) {
            onTheirWay.release(permits);
            throw failed;
        }
        sent.add(call);
        part.reset();
        call.whenComplete((done, failed) -> onTheirWay.release(permits));
    }

    private String begin() {
        CreateMultipartUploadResponse begun = calls.await(
                "CreateMultipartUpload",
                key,
                calls.client()
                        .createMultipartUpload(
                                request -> request.bucket(calls.bucket()).key(calls.inBucket(key))));
        upload = begun.uploadId();
        return begun.uploadId();
    }

    private CompletableFuture<UploadPartResponse> start(String id, int number, byte[] content) {
        return calls.client()
                .uploadPart(
                        request -> request.bucket(calls.bucket())
                                .key(calls.inBucket(key))
                                .uploadId(id)
                                .partNumber(number)
                                .contentLength((long) content.length)
                                .contentMD5(Digests.md5(content))
                                .overrideConfiguration(calls.limit(content.length)),
                        S3Calls.body(content));
    }

    private void acquire(int permits) {
        try {
            onTheirWay.acquire(permits);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw calls.problems().of(Kind.UNAVAILABLE, "UploadPart", key, "interrupted", interrupted);
        }
        for (CompletableFuture<UploadPartResponse> earlier : sent) {
            if (earlier.isCompletedExceptionally()) {
                onTheirWay.release(permits);
                calls.await("UploadPart", key, earlier);
            }
        }
    }

    /** Puts the bytes that have been written, and waits until they exist as one object. */
    void finish() {
        String id = upload;
        if (id == null) {
            calls.put(key, part.toByteArray(), null, null);
            finished = true;
            return;
        }
        send();
        List<CompletedPart> arrived = new ArrayList<>();
        for (CompletableFuture<UploadPartResponse> part : sent) {
            String tag = calls.await("UploadPart", key, part).eTag();
            arrived.add(CompletedPart.builder()
                    .partNumber(arrived.size() + 1)
                    .eTag(tag)
                    .build());
        }
        // Assembling thousands of parts takes the server minutes: this call may take as long as sending one part.
        calls.await(
                "CompleteMultipartUpload",
                key,
                calls.client()
                        .completeMultipartUpload(request -> request.bucket(calls.bucket())
                                .key(calls.inBucket(key))
                                .uploadId(id)
                                .multipartUpload(all -> all.parts(arrived))
                                .overrideConfiguration(calls.limit(parts.smallBytes()))));
        finished = true;
    }

    /**
     * Unless the upload is finished, cancels parts in flight, and makes the server discard those that have arrived,
     * because no other code discards them. It does so even if the caller has been interrupted.
     */
    void abort() {
        sent.forEach(part -> part.cancel(true));
        String id = upload;
        if (id == null || finished) {
            return;
        }
        boolean interrupted = Thread.interrupted();
        try {
            calls.await(
                    "AbortMultipartUpload",
                    key,
                    calls.client()
                            .abortMultipartUpload(request -> request.bucket(calls.bucket())
                                    .key(calls.inBucket(key))
                                    .uploadId(id)
                                    .overrideConfiguration(limits -> limits.apiCallTimeout(
                                            calls.timeouts().attempt(0)))));
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * The part sizes for uploads of large objects. S3 accepts ten thousand parts, so the later parts of a very large
     * object are larger: with 8 MiB and 32 MiB, the maximum is a quarter of a tebibyte.
     *
     * @param smallBytes size of the first parts
     * @param smallParts number of small parts
     * @param largeBytes size of the other parts, a multiple of {@code smallBytes}
     * @param maxParts maximum number of parts
     */
    record S3Parts(int smallBytes, int smallParts, int largeBytes, int maxParts) {
        static final S3Parts DEFAULT = new S3Parts(8 << 20, 2_000, 32 << 20, 10_000);

        int bytesOf(int number) {
            return number <= smallParts ? smallBytes : largeBytes;
        }

        int permitsOf(int number) {
            return bytesOf(number) / smallBytes;
        }
    }
}
