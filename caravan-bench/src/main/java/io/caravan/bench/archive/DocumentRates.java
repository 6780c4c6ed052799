package io.caravan.bench.archive;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import io.caravan.bench.s3.Bucket;
import io.caravan.bench.s3.S3Software;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/**
 * Measures the rate at which documents are archived for the first time, compared with the rate at which the SDK puts
 * objects of the same sizes.
 */
final class DocumentRates implements Measure {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final String NEVER = "1h";

    private final Results results = new Results();
    private final int count;

    DocumentRates(boolean quick) {
        count = quick ? 100 : 5_000;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        for (S3Software software : turn.inTurn(List.of(S3Software.S3PROXY, S3Software.MOTO))) {
            String workload = count + " documents to " + software;
            S3Turn.with(software, turn, workload, results, (work, bucket) -> measure(turn, workload, work, bucket));
        }
    }

    private void measure(Turn turn, String workload, Path work, Bucket bucket) throws IOException {
        turn.say(workload + ", Caravan");
        try (ArchivingServer server = ArchivingServer.idle(work)) {
            new SmallDocuments(count).write(server.address());
            server.stop();
        }
        double caravan;
        try (ArchivingServer server = ArchivingServer.toBucket(work, bucket.endpoint(), "c", NEVER)) {
            server.address();
            long start = System.nanoTime();
            server.awaitArchived(count);
            caravan = rate(System.nanoTime() - start);
        }
        results.add(
                workload,
                "Caravan",
                "each named by its manifest",
                new Measurement().with(Figure.DOCUMENTS_PER_SECOND, caravan));
        turn.say(workload + ", the SDK");
        double sdk = rate(new SdkPuts(
                        count,
                        averageBytes(bucket, "c/snapshots/"),
                        averageBytes(bucket, "c/manifests/"),
                        ArchivingServer.CONCURRENCY)
                .run(bucket));
        results.add(
                workload,
                "AWS SDK",
                "two objects put",
                new Measurement().with(Figure.DOCUMENTS_PER_SECOND, sdk).with(Figure.CARAVAN_RATIO, caravan / sdk));
    }

    private double rate(long nanos) {
        return count / (nanos / NANOS_PER_SECOND);
    }

    private int averageBytes(Bucket bucket, String prefix) throws IOException {
        return (int) (bucket.bytes(prefix) / count);
    }

    @Override
    public Table table() {
        return new Table(
                "Many small documents",
                "A server starts and finds " + count + " documents of " + SmallDocuments.VALUES
                        + " values of " + SmallDocuments.VALUE_BYTES + " bytes that were never archived. It archives "
                        + ArchivingServer.CONCURRENCY + " at a time. The SDK puts two objects a document, of the"
                        + " same sizes and with the same concurrency. Caravan also fsyncs two changes to its own"
                        + " store for each document.",
                results);
    }

    /**
     * Measures how long the SDK takes to put two objects for each document, one after the other, with several documents
     * in parallel.
     *
     * @param snapshotBytes size of the first object
     * @param manifestBytes size of the second object
     */
    private record SdkPuts(int documents, int snapshotBytes, int manifestBytes, int concurrency) {

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

        /** Puts the objects of the remaining documents, one document after another, until none are left. */
        private CompletableFuture<Void> lane(AtomicInteger next, OneDocument document) {
            int number = next.getAndIncrement();
            return number >= documents
                    ? CompletableFuture.completedFuture(null)
                    : document.put(number).thenComposeAsync(done -> lane(next, document));
        }

        private static CompletableFuture<?> put(S3AsyncClient client, Bucket bucket, String key, byte[] content) {
            return client.putObject(
                    request -> request.bucket(bucket.name()).key(key), AsyncRequestBody.fromBytes(content));
        }
    }
}
