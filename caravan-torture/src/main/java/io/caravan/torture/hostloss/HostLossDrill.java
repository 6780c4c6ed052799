package io.caravan.torture.hostloss;

import io.caravan.bench.s3.Bucket;
import io.caravan.bench.s3.S3Process;
import io.caravan.torture.hostloss.ServedRound.LostHost;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Simulates the loss of one host in each round, until a problem is found. */
final class HostLossDrill {
    private static final double NANOS_PER_SECOND = 1e9;

    private final HostLossOptions options;
    private final PrintStream out;
    private final SplittableRandom random;
    private final List<DocumentHistory> documents;
    private final List<String> problems = new ArrayList<>();
    private long acknowledged;
    private long lostChanges;

    HostLossDrill(HostLossOptions options, long seed, PrintStream out) {
        this.options = options;
        this.out = out;
        random = new SplittableRandom(seed);
        documents = IntStream.range(0, options.documents)
                .mapToObj(DocumentHistory::new)
                .toList();
    }

    /** Runs all rounds and prints a summary; returns whether no problem was found. */
    boolean run() throws IOException, InterruptedException {
        int round = 0;
        try (S3Process s3 = S3Process.start(options.s3, options.directory);
                Bucket bucket = new Bucket(s3.endpoint(), Round.BUCKET)) {
            bucket.create();
            Lie.@Nullable Liar liar = options.lie == null ? null : options.lie.in(bucket, Round.PREFIX);
            while (round < options.rounds && problems.isEmpty()) {
                round++;
                run(round, s3, bucket, liar);
            }
        }
        out.printf(
                Locale.ROOT,
                "%d rounds, %,d changes acknowledged, %,d of them lost within the allowed age%n%s%n",
                round,
                acknowledged,
                lostChanges,
                problems.isEmpty() ? "no faults" : problems.size() + " FAULTS");
        problems.forEach(problem -> out.println("FAULT: " + problem));
        return problems.isEmpty();
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
        problems.addAll(restored.problems);
        acknowledged += lost.acknowledged();
        lostChanges += restored.lostChanges;
        report(round, lost, restored);
    }

    private void report(int round, LostHost lost, RestoredRound restored) {
        out.printf(
                Locale.ROOT,
                "round %d: %,d changes acknowledged, host lost after %.1f s; %,d documents restored in %.1f s%s;"
                        + " %,d changes lost, the first acknowledged %.2f s before the kill; longest wait for a reply"
                        + " %.1f ms: %s%n",
                round,
                lost.acknowledged(),
                lost.servedNanos() / NANOS_PER_SECOND,
                restored.there,
                restored.restoreNanos / NANOS_PER_SECOND,
                restored.kills == 0 ? "" : " after " + restored.kills + " kills",
                restored.lostChanges,
                restored.oldestLostNanos / NANOS_PER_SECOND,
                lost.longestWaitNanos() / (double) TimeUnit.MILLISECONDS.toNanos(1),
                problems.isEmpty() ? "ok" : "FAILED");
    }
}
