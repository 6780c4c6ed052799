package io.caravan.bench.archive;

import io.caravan.bench.s3.Bucket;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/**
 * Measures how long the SDK takes to put two objects for each document, one after the other, with several documents in
 * parallel.
 *
 * @param snapshotBytes size of the first object
 * @param manifestBytes size of the second object
 */
record SdkPuts(int documents, int snapshotBytes, int manifestBytes, int concurrency) {

    /** Puts all objects; returns the time taken, in nanoseconds. */
    long run(Bucket bucket) throws IOException {
        byte[] snapshot = new byte[snapshotBytes];
        byte[] manifest = new byte[manifestBytes];
        SplittableRandom random = new SplittableRandom(documents);
        random.nextBytes(snapshot);
        random.nextBytes(manifest);
        try (S3AsyncClient client = Bucket.client(bucket.endpoint()).build()) {
            AtomicInteger next = new AtomicInteger();
            List<CompletableFuture<Void>> lanes = new ArrayList<>();
            long start = System.nanoTime();
            for (int i = 0; i < concurrency; i++) {
                lanes.add(lane(
                        next,
                        number -> put(client, bucket, "sdk/snapshots/" + number, snapshot)
                                .thenCompose(done -> put(client, bucket, "sdk/manifests/" + number, manifest))));
            }
            CompletableFuture.allOf(lanes.toArray(CompletableFuture[]::new)).join();
            return System.nanoTime() - start;
        } catch (CompletionException problem) {
            throw new IOException("the SDK could not put its objects", problem);
        }
    }

    private interface OneDocument {
        CompletableFuture<?> put(int number);
    }

    /** Puts one document after another until none is left. */
    private CompletableFuture<Void> lane(AtomicInteger next, OneDocument document) {
        int number = next.getAndIncrement();
        return number >= documents
                ? CompletableFuture.completedFuture(null)
                : document.put(number).thenComposeAsync(done -> lane(next, document));
    }

    private static CompletableFuture<?> put(S3AsyncClient client, Bucket bucket, String key, byte[] content) {
        return client.putObject(request -> request.bucket(bucket.name()).key(key), AsyncRequestBody.fromBytes(content));
    }
}
