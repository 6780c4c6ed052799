package io.caravan.bench.archive;

import io.caravan.bench.client.RespConnection;
import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import io.caravan.bench.report.Turn;
import io.caravan.bench.s3.Bucket;
import io.caravan.bench.s3.S3Software;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/**
 * Measures the archiving of one large document, compared with the SDK's multipart upload of a file with the same
 * values.
 */
final class LargeDocuments implements Measure {
    private static final double BYTES_PER_MB = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int VALUE_BYTES = 64 * 1024;
    private static final int MIB = 1024 * 1024;
    private static final String NEVER = "1h";
    private static final byte[] NAME = RespConnection.ascii("large");

    private final Results results = new Results();
    private final int values;

    LargeDocuments(boolean quick) {
        values = (quick ? 16 : 512) * MIB / VALUE_BYTES;
    }

    @Override
    public void run(Turn turn) throws IOException, InterruptedException {
        measure(turn, true);
        measure(turn, false);
    }

    private void measure(Turn turn, boolean compressible) throws IOException, InterruptedException {
        String workload = values * (long) VALUE_BYTES / MIB + " MiB, " + (compressible ? "text" : "random bytes");
        S3Turn.with(S3Software.S3PROXY, turn, workload, results, (work, bucket) -> {
            turn.say(workload + ", Caravan");
            double caravan = rate(archive(work, bucket, compressible));
            results.add(
                    workload,
                    "Caravan",
                    "named by its manifest",
                    new Measurement().with(Figure.VALUE_MB_PER_SECOND, caravan));
            turn.say(workload + ", the SDK");
            double sdk = rate(upload(work, bucket, compressible));
            results.add(
                    workload,
                    "AWS SDK, multipart",
                    "one object put",
                    new Measurement().with(Figure.VALUE_MB_PER_SECOND, sdk).with(Figure.CARAVAN_RATIO, caravan / sdk));
        });
    }

    private double rate(long nanos) {
        return (double) values * VALUE_BYTES / BYTES_PER_MB / (nanos / NANOS_PER_SECOND);
    }

    private long archive(Path work, Bucket bucket, boolean compressible) throws IOException {
        try (ArchivingServer server = ArchivingServer.toBucket(work, bucket.endpoint(), "c", NEVER)) {
            append(server.address(), compressible);
            server.awaitOwner();
            try (RespConnection connection = new RespConnection(server.address())) {
                long start = System.nanoTime();
                connection.call(RespConnection.ascii("CARAVAN.ARCHIVE"), NAME);
                return System.nanoTime() - start;
            }
        }
    }

    private void append(InetSocketAddress server, boolean compressible) throws IOException {
        SplittableRandom random = new SplittableRandom(values);
        try (RespConnection connection = new RespConnection(server)) {
            for (int i = 0; i < values; i++) {
                connection.call(RespConnection.ascii("RPUSH"), NAME, value(random, compressible));
            }
        }
    }

    private static byte[] value(SplittableRandom random, boolean compressible) {
        byte[] value = new byte[VALUE_BYTES];
        if (compressible) {
            for (int i = 0; i < value.length; i++) {
                value[i] = (byte) ('a' + random.nextInt(4));
            }
        } else {
            random.nextBytes(value);
        }
        return value;
    }

    private long upload(Path work, Bucket bucket, boolean compressible) throws IOException {
        Path file = work.resolve("values");
        SplittableRandom random = new SplittableRandom(values);
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int i = 0; i < values; i++) {
                out.write(value(random, compressible));
            }
        }
        try (S3AsyncClient client =
                Bucket.client(bucket.endpoint()).multipartEnabled(true).build()) {
            long start = System.nanoTime();
            client.putObject(
                            request -> request.bucket(bucket.name()).key("sdk/values"), AsyncRequestBody.fromFile(file))
                    .join();
            return System.nanoTime() - start;
        } catch (CompletionException problem) {
            throw new IOException("the SDK could not upload the file", problem);
        }
    }

    @Override
    public Table table() {
        return new Table(
                "One large document",
                "The time from `CARAVAN.ARCHIVE` to its reply, for a document of 64 KiB values, to s3proxy. Its"
                        + " peer is the SDK's multipart upload, with default settings, of a file with the same"
                        + " values. MB count the values before compression.",
                results);
    }
}
