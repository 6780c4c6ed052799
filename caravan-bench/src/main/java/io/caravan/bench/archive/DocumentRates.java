package io.caravan.bench.archive;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Results.Row;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import io.caravan.bench.s3.Bucket;
import io.caravan.bench.s3.S3Software;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Measures the rate of archiving documents for the first time, compared with the rate at which the SDK puts objects of
 * the same sizes.
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
                new Row(workload, "Caravan", "each named by its manifest"),
                new Measurement().with(Figure.DOCUMENTS_PER_SECOND, caravan));
        turn.say(workload + ", the SDK");
        double sdk = rate(new SdkPuts(
                        count,
                        averageBytes(bucket, "c/snapshots/"),
                        averageBytes(bucket, "c/manifests/"),
                        ArchivingServer.CONCURRENCY)
                .run(bucket));
        results.add(
                new Row(workload, "AWS SDK", "two objects put"),
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
                        + " same sizes and with the same concurrency. Caravan also forces two changes to its own"
                        + " store for each document.",
                results);
    }
}
