package io.caravan.bench.archive;

import io.caravan.bench.client.ScrapedMetrics;
import io.caravan.bench.s3.S3Account;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A Caravan server in its own process, with or without an archive. All other settings have their default values. */
final class ArchivingServer implements AutoCloseable {
    static final String BUCKET = "caravan";
    /** The number of documents archived concurrently, which is the server's default. */
    static final int CONCURRENCY = 8;

    private static final Duration TIMEOUT = Duration.ofMinutes(10);
    private static final long POLL_NANOS = 10_000_000;

    private final ServerProcess process;

    private ArchivingServer(Path work, List<String> options) throws IOException {
        process = new ServerProcess(
                        ServerProcess.MAIN,
                        work.resolve("data"),
                        work.resolve("server.log"),
                        options,
                        S3Account.environment())
                .withFlags(List.of());
        process.start();
    }

    static ArchivingServer idle(Path work) throws IOException {
        return new ArchivingServer(work, List.of("--archive", "none"));
    }

    /** Starts a server that archives to a directory. */
    static ArchivingServer toDirectory(Path work, Path archive, String after) throws IOException {
        return archiving(work, List.of("--archive", "file:" + archive), after);
    }

    /** Starts a server that archives to a bucket, under this prefix. */
    static ArchivingServer toBucket(Path work, URI endpoint, String prefix, String after) throws IOException {
        return archiving(work, S3Account.archive(BUCKET + "/" + prefix, endpoint), after);
    }

    private static ArchivingServer archiving(Path work, List<String> place, String after) throws IOException {
        List<String> options = new ArrayList<>(place);
        options.addAll(List.of("--archive-after", after, "--archive-bandwidth", "0"));
        options.addAll(List.of("--archive-concurrency", Integer.toString(CONCURRENCY)));
        return new ArchivingServer(work, options);
    }

    InetSocketAddress address() throws IOException {
        return process.awaitAddress();
    }

    /** Waits until the server has taken ownership of its archive. */
    void awaitOwner() throws IOException {
        await(
                "taken ownership of its archive",
                () -> ScrapedMetrics.page(process.awaitHttpAddress(), "/metrics")
                        .contains("caravan_archive_state{state=\"owner\"} 1"));
    }

    /** Waits until the server has archived this many documents since its start. */
    void awaitArchived(long documents) throws IOException {
        await("archived " + documents + " documents", () -> archived() >= documents);
    }

    private long archived() throws IOException {
        return (long) ScrapedMetrics.of(process.awaitHttpAddress()).sum("caravan_archive_documents_total");
    }

    private interface Condition {
        boolean holds() throws IOException;
    }

    private void await(String what, Condition condition) throws IOException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IOException("the server has not " + what + " in " + TIMEOUT.toMinutes()
                        + " minutes; it printed: " + process.output());
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    void stop() throws IOException {
        process.terminate();
    }

    /** Kills the server process if it is still running. */
    @Override
    public void close() {
        process.close();
    }
}
