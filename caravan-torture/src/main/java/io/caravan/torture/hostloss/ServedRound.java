package io.caravan.torture.hostloss;

import io.caravan.bench.WorkDirectories;
import io.caravan.bench.client.ScrapedMetrics;
import io.caravan.bench.s3.Bucket;
import io.caravan.bench.s3.S3Account;
import io.caravan.bench.s3.S3Process;
import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The first half of a round: a server serves and archives, and at a random moment its host is lost, including the disk.
 */
final class ServedRound extends Round {
    private static final double NANOS_PER_SECOND = 1e9;
    /**
     * The time limit for a reply, which must not wait for the archive. Even on a busy machine, replies take far less.
     */
    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(3);

    private static final int PRUNES = 2;

    /**
     * The results of a round's first half, which ends with the loss of a host.
     *
     * @param servedNanos time from the first request to the kill
     * @param killedNanos time of the kill
     * @param mustNanos changes acknowledged by this time must be in the archive
     * @param acknowledged number of acknowledged changes
     * @param longestWaitNanos longest time that a reply took
     * @param problems problems found before the loss
     */
    record LostHost(
            long servedNanos,
            long killedNanos,
            long mustNanos,
            long acknowledged,
            long longestWaitNanos,
            List<String> problems) {}

    private final S3Process s3;

    ServedRound(
            HostLossOptions options,
            S3Process s3,
            Bucket bucket,
            List<DocumentHistory> documents,
            SplittableRandom random) {
        super(options, bucket, documents, random);
        this.s3 = s3;
    }

    /**
     * Runs the server under load, and then simulates the loss of the host.
     *
     * @param data directory of the store; deleted afterward
     */
    LostHost run(Path data, Lie.@Nullable Liar liar) throws IOException, InterruptedException {
        try (FaultCourse faults = new FaultCourse(s3, random.split());
                ServerProcess server = server(data, faults.endpoint())) {
            server.start();
            Load load = new Load(documents, server.awaitAddress(), options.connections, options.rate, random.split());
            long startNanos = System.nanoTime();
            WellTimes times = new WellTimes(startNanos);
            serve(liar, times, faults, server);
            load.expectEnd();
            long killedNanos = System.nanoTime();
            times.ends(killedNanos);
            server.kill();
            load.awaitEnd();
            WorkDirectories.delete(data);
            checkWaits(load);
            problems.addAll(load.problems());
            return new LostHost(
                    killedNanos - startNanos,
                    killedNanos,
                    times.mustBy(options.boundNanos()),
                    load.acknowledged(),
                    load.longestWaitNanos(),
                    problems);
        }
    }

    private void serve(Lie.@Nullable Liar liar, WellTimes times, FaultCourse faults, ServerProcess server)
            throws IOException, InterruptedException {
        double seconds = options.seconds * (0.5 + random.nextDouble() / 2);
        long halfNanos = (options.boundNanos() + (long) (seconds * NANOS_PER_SECOND)) / 2;
        TimeUnit.NANOSECONDS.sleep(halfNanos);
        if (liar != null) {
            liar.remember();
        }
        if (options.faults) {
            suffer(times, faults, server);
            TimeUnit.NANOSECONDS.sleep(options.boundNanos());
        }
        if (options.killPrune) {
            killPrunes();
        }
        TimeUnit.NANOSECONDS.sleep(halfNanos);
    }

    /** Produces the archive faults. The archive counts as available again when the server makes its next attempt. */
    private void suffer(WellTimes times, FaultCourse faults, ServerProcess server)
            throws IOException, InterruptedException {
        times.ends(System.nanoTime());
        faults.run(() -> checkLag(Figures.of(server.awaitHttpAddress())));
        double backOffSeconds = Figures.of(server.awaitHttpAddress()).backOffSeconds();
        times.beginsAgain(System.nanoTime() + (long) (backOffSeconds * NANOS_PER_SECOND));
    }

    /**
     * The archive metrics of a server, and its readiness.
     *
     * @param oldestSeconds age of the oldest unarchived change
     * @param failures number of failed attempts
     * @param backOffSeconds time until the next attempt
     * @param ready response of {@code /readyz}
     */
    private record Figures(double oldestSeconds, double failures, double backOffSeconds, String ready) {
        static Figures of(InetSocketAddress http) throws IOException {
            ScrapedMetrics metrics = ScrapedMetrics.of(http);
            return new Figures(
                    metrics.sum("caravan_archive_lag_seconds"),
                    metrics.sum("caravan_archive_failures_total"),
                    metrics.sum("caravan_archive_backoff_seconds"),
                    ScrapedMetrics.page(http, "/readyz"));
        }
    }

    private void checkLag(Figures figures) {
        if (figures.failures() == 0 || figures.oldestSeconds() == 0) {
            problems.add("the S3 server was down, but /metrics did not show it: " + figures);
        }
        if (!figures.ready().contains("lagSeconds")) {
            problems.add("the S3 server was down, but /readyz did not report the lag: " + figures.ready());
        }
    }

    private void checkWaits(Load load) {
        if (load.longestWaitNanos() > LONGEST_WAIT_NANOS) {
            problems.add("a reply took " + TimeUnit.NANOSECONDS.toMillis(load.longestWaitNanos())
                    + " ms: changes must not wait for the archive");
        }
    }

    /** Kills {@code archive prune} repeatedly while the server archives. The archive must be intact after each run. */
    private void killPrunes() throws IOException, InterruptedException {
        CaravanCommand prune = command("archive", "prune", "--keep", "1", "--keep-days", "0", "--keep-daily", "0");
        CaravanCommand verify = command("archive", "verify");
        for (int i = 0; i < PRUNES; i++) {
            prune.killed(random);
            add(verify.run());
        }
        add(prune.run());
    }

    private ServerProcess server(Path data, URI endpoint) {
        List<String> words = new ArrayList<>(archive(endpoint));
        words.add("--archive-after");
        words.add(options.archiveAfter().toMillis() + "ms");
        return new ServerProcess(ServerProcess.MAIN, data, options.log(), words, S3Account.environment());
    }
}
