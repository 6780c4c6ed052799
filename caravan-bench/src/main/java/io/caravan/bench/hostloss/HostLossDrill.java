package io.caravan.bench.hostloss;

import io.caravan.bench.hostloss.ServedRound.LostHost;
import io.caravan.bench.s3.Bucket;
import io.caravan.bench.s3.S3Process;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Simulates the loss of one host in each round, until the first problem. */
final class HostLossDrill {
    private static final double MILLIS_PER_SECOND = 1e3;

    /**
     * The result of all rounds.
     *
     * @param rounds number of rounds, including a failed one
     * @param answers number of acknowledged changes
     * @param lost acknowledged changes that were not yet archived when their host was lost
     * @param problems problems found; empty if there are none
     */
    record Summary(int rounds, long answers, long lost, List<String> problems) {
        Summary {
            problems = List.copyOf(problems);
        }

        boolean clean() {
            return problems.isEmpty();
        }
    }

    private final HostLossOptions options;
    private final PrintStream out;
    private final SplittableRandom random;
    private final List<DocumentHistory> documents;
    private final List<String> problems = new ArrayList<>();
    private long answers;
    private long lostChanges;

    HostLossDrill(HostLossOptions options, long seed, PrintStream out) {
        this.options = options;
        this.out = out;
        random = new SplittableRandom(seed);
        documents = IntStream.range(0, options.documents)
                .mapToObj(DocumentHistory::new)
                .toList();
    }

    Summary run() throws IOException, InterruptedException {
        int round = 0;
        try (S3Process s3 = S3Process.start(options.s3, options.directory);
                Bucket bucket = new Bucket(s3.endpoint(), ArchivePlace.BUCKET)) {
            bucket.create();
            Lie.@Nullable Liar liar = options.lie == null ? null : options.lie.in(bucket, ArchivePlace.PREFIX);
            while (round < options.rounds && problems.isEmpty()) {
                round++;
                run(round, s3, bucket, liar);
            }
        }
        return new Summary(round, answers, lostChanges, problems);
    }

    private void run(int round, S3Process s3, Bucket bucket, Lie.@Nullable Liar liar)
            throws IOException, InterruptedException {
        LostHost lost = new ServedRound(options, s3, bucket, documents, random.split()).run(options.data(round), liar);
        if (liar != null) {
            liar.lie();
        }
        RestoredRound restored = new RestoredRound(options, bucket, documents, lost, random.split());
        restored.run(options.data(round + 1));
        problems.addAll(lost.problems());
        problems.addAll(restored.problems());
        answers += lost.answers();
        lostChanges += restored.lostChanges();
        tell(round, lost, restored);
    }

    private void tell(int round, LostHost lost, RestoredRound restored) {
        out.printf(
                Locale.ROOT,
                "round %d: %,d changes answered, host lost after %.1f s; %,d documents restored in %.1f s%s;"
                        + " %,d changes lost, the first answered %.2f s before the kill; longest wait for an answer"
                        + " %.1f ms: %s%n",
                round,
                lost.answers(),
                lost.servedNanos() / MILLIS_PER_SECOND / TimeUnit.MILLISECONDS.toNanos(1),
                restored.there(),
                restored.restoreMillis() / MILLIS_PER_SECOND,
                restored.kills() == 0 ? "" : " after " + restored.kills() + " kills",
                restored.lostChanges(),
                restored.oldestLostMillis() / MILLIS_PER_SECOND,
                lost.longestWaitNanos() / (double) TimeUnit.MILLISECONDS.toNanos(1),
                problems.isEmpty() ? "ok" : "FAILED");
    }
}
