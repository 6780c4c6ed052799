package io.caravan.bench.hostloss;

import io.caravan.bench.Directories;
import io.caravan.bench.s3.Bucket;
import io.caravan.bench.s3.S3Account;
import io.caravan.bench.server.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The first half of a round: a server serves and archives, and at a random moment its host is lost, disk and all. */
final class ServedRound {
    private static final double NANOS_PER_SECOND = 1e9;

    private final HostLossOptions options;
    private final Bucket bucket;
    private final List<DocumentHistory> documents;
    private final SplittableRandom random;

    ServedRound(HostLossOptions options, Bucket bucket, List<DocumentHistory> documents, SplittableRandom random) {
        this.options = options;
        this.bucket = bucket;
        this.documents = documents;
        this.random = random;
    }

    /**
     * Serves and loses the host.
     *
     * @param data the store; is gone afterwards
     */
    LostHost run(Path data, Lie.@Nullable Liar liar) throws IOException, InterruptedException {
        try (ServerProcess server = server(data, bucket.endpoint())) {
            server.start();
            Load load =
                    new Load(documents, server.awaitAddress(), options.connections(), options.rate(), random.split());
            long startNanos = System.nanoTime();
            WellTimes times = new WellTimes(startNanos);
            serve(liar);
            load.expectEnd();
            long killedNanos = System.nanoTime();
            times.ends(killedNanos);
            server.kill();
            load.awaitEnd();
            Directories.delete(data);
            return new LostHost(
                    killedNanos - startNanos,
                    killedNanos,
                    times.mustBy(options.boundNanos()),
                    load.answers(),
                    load.longestWaitNanos(),
                    load.problems());
        }
    }

    private void serve(Lie.@Nullable Liar liar) throws IOException, InterruptedException {
        double seconds = options.seconds() * (0.5 + random.nextDouble() / 2);
        long halfNanos = (options.boundNanos() + (long) (seconds * NANOS_PER_SECOND)) / 2;
        TimeUnit.NANOSECONDS.sleep(halfNanos);
        if (liar != null) {
            liar.remember();
        }
        TimeUnit.NANOSECONDS.sleep(halfNanos);
    }

    private ServerProcess server(Path data, URI endpoint) {
        List<String> words = new ArrayList<>(ArchivePlace.options(endpoint));
        words.add("--archive-after");
        words.add(options.archiveAfter().toMillis() + "ms");
        return new ServerProcess(ServerProcess.MAIN, data, options.log(), words, S3Account.environment());
    }
}
