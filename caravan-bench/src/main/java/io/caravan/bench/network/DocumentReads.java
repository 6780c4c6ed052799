package io.caravan.bench.network;

import io.caravan.bench.report.Figure;
import io.caravan.bench.report.Measurement;
import io.caravan.bench.report.Results;
import io.caravan.bench.report.Table;
import java.io.IOException;
import java.util.List;

/** Reads a document far larger than the server's heap, as fast as it arrives. */
final class DocumentReads implements NetworkMeasure {
    private static final Subject CARAVAN = new Caravan(List.of("-Xmx64m"));
    private static final int[] VALUE_BYTES = {64 * 1024, 1024};
    private static final long BYTES = 1L << 30;
    private static final long QUICK_BYTES = 16L << 20;
    private static final double BYTES_PER_MIB = 1 << 20;

    private final Results results = new Results();
    private final long bytes;

    DocumentReads(boolean quick) {
        bytes = quick ? QUICK_BYTES : BYTES;
    }

    @Override
    public void run(Stage stage) throws IOException, InterruptedException {
        Comparison comparison = Comparison.ofRates(results, Figure.GB_PER_SECOND);
        for (int valueBytes : VALUE_BYTES) {
            BigDocument document = new BigDocument(valueBytes, bytes);
            for (Subject subject : stage.inTurn(List.of(CARAVAN, Redis.inMemory()))) {
                read(stage, subject, document, comparison);
            }
        }
    }

    private void read(Stage stage, Subject subject, BigDocument document, Comparison comparison)
            throws IOException, InterruptedException {
        String workload = (bytes >> 20) + " MiB in values of " + (document.valueBytes() >> 10) + " KiB";
        String lrange = "LRANGE, " + workload;
        String get = "GET, " + workload;
        stage.with(subject, lrange, results, server -> {
            document.write(server.resp());
            comparison.add(lrange, subject, measure(server, new RespDrain(document)));
            if (subject instanceof Caravan) {
                stage.say(get);
                comparison.add(get, subject, measure(server, new HttpDrain(document)));
            }
        });
    }

    /** Measures the second of two reads, and memory before and after both. */
    private static Measurement measure(RunningServer server, Drain drain) throws IOException, InterruptedException {
        ServerMemory before = server.memory();
        drain.read(server);
        long start = System.nanoTime();
        long read = drain.read(server);
        long nanos = System.nanoTime() - start;
        ServerMemory after = server.memory();
        return new Measurement()
                .with(Figure.GB_PER_SECOND, (double) read / nanos)
                .with(Figure.RSS_BEFORE_MIB, before.resident() / BYTES_PER_MIB)
                .with(Figure.RSS_AFTER_MIB, after.resident() / BYTES_PER_MIB)
                .with(Figure.ANONYMOUS_BEFORE_MIB, before.anonymous() / BYTES_PER_MIB)
                .with(Figure.ANONYMOUS_AFTER_MIB, after.anonymous() / BYTES_PER_MIB);
    }

    @Override
    public Table table() {
        return new Table(
                "One large document",
                "Read as a whole, twice; the second counts. Caravan runs with `-Xmx64m`. Resident memory includes"
                        + " pages of its mapped files, which the system reclaims when it needs memory; \"not of"
                        + " files\" is the memory that the process itself has allocated. Redis keeps the document in"
                        + " memory. The clients differ: for LRANGE, a client reads the socket into a 1 MiB buffer"
                        + " and parses only the first line; for GET, an HTTP client"
                        + " (" + HttpClient.DESCRIPTION + ") parses chunks. So compare systems with each other, but"
                        + " not LRANGE with GET.",
                results);
    }
}
