package io.caravan.torture.round;

import io.caravan.torture.model.Ledger.Counts;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Summarizes all rounds of a torture run. */
public final class TortureSummary extends RoundSummary {
    private static final double NANOS_PER_MILLI = 1e6;

    private final Map<RoundReport.Fate, Integer> fates = new EnumMap<>(RoundReport.Fate.class);
    private final Map<RoundReport.Trial, Integer> trials = new EnumMap<>(RoundReport.Trial.class);
    private Counts counts = Counts.NONE;
    private long kept;
    private int interruptedRecoveries;
    private long longestReopenNanos;

    public void add(RoundReport report) {
        round();
        fates.merge(report.fate, 1, Integer::sum);
        report.trials.forEach(trial -> trials.merge(trial, 1, Integer::sum));
        report.problems.forEach(this::problem);
        counts = counts.plus(report.counts);
        kept += report.kept;
        interruptedRecoveries += report.interruptedRecoveries;
        longestReopenNanos = Math.max(longestReopenNanos, report.reopenNanos);
    }

    public Counts counts() {
        return counts;
    }

    /** Returns the number of rounds with this trial. */
    public int trials(RoundReport.Trial trial) {
        return trials.getOrDefault(trial, 0);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d rounds %s, with %s, recovery killed %d times%n"
                        + "%,d operations acknowledged, %,d more found in flight, %,d rejected for lack of space (%,d"
                        + " trims and deletes); %,d reads checked; longest reopen %,.1f ms%n%s",
                rounds(),
                fates,
                trials,
                interruptedRecoveries,
                counts.acknowledged(),
                kept,
                counts.rejected(),
                counts.rejectedReleases(),
                counts.reads(),
                longestReopenNanos / NANOS_PER_MILLI,
                verdict());
    }
}
