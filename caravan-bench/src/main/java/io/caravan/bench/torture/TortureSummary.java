package io.caravan.bench.torture;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** The summary of all rounds. */
final class TortureSummary extends Summary {
    private static final double NANOS_PER_MILLI = 1e6;

    private final Map<Fate, Integer> fates = new EnumMap<>(Fate.class);
    private final Map<Trial, Integer> trials = new EnumMap<>(Trial.class);
    private long acknowledged;
    private long refused;
    private long refusedReleases;
    private long reads;
    private long kept;
    private int interruptedRecoveries;
    private long longestReopenNanos;

    void add(RoundReport report) {
        round();
        fates.merge(report.fate(), 1, Integer::sum);
        report.trials().forEach(trial -> trials.merge(trial, 1, Integer::sum));
        report.problems().forEach(this::problem);
        acknowledged += report.acknowledged();
        refused += report.refused();
        refusedReleases += report.refusedReleases();
        reads += report.reads();
        kept += report.kept();
        interruptedRecoveries += report.interruptedRecoveries();
        longestReopenNanos = Math.max(longestReopenNanos, report.reopenNanos());
    }

    /** Number of acknowledged operations. */
    long acknowledged() {
        return acknowledged;
    }

    /** Number of operations refused for lack of space. */
    long refused() {
        return refused;
    }

    /** Number of reads checked while the store was at work. */
    long reads() {
        return reads;
    }

    /** Number of rounds with this trial. */
    int trials(Trial trial) {
        return trials.getOrDefault(trial, 0);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d rounds %s, with %s, recovery killed %d times%n"
                        + "%,d operations acknowledged, %,d more found in flight, %,d refused for lack of space (%,d"
                        + " trims and deletes); %,d reads checked; longest reopen %,.1f ms%n%s",
                rounds(),
                fates,
                trials,
                interruptedRecoveries,
                acknowledged,
                kept,
                refused,
                refusedReleases,
                reads,
                longestReopenNanos / NANOS_PER_MILLI,
                verdict());
    }
}
