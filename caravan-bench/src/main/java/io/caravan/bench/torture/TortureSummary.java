package io.caravan.bench.torture;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** All rounds together. */
public final class TortureSummary {
    private static final double NANOS_PER_MILLI = 1e6;

    private final Map<Torture.Fate, Integer> fates = new EnumMap<>(Torture.Fate.class);
    private final List<String> problems = new ArrayList<>();
    private int rounds;
    private long acknowledged;
    private long kept;
    private int interruptedRecoveries;
    private long longestReopenNanos;

    void add(RoundReport report) {
        rounds++;
        fates.merge(report.fate(), 1, Integer::sum);
        problems.addAll(report.problems());
        acknowledged += report.acknowledged();
        kept += report.kept();
        interruptedRecoveries += report.interruptedRecoveries();
        longestReopenNanos = Math.max(longestReopenNanos, report.reopenNanos());
    }

    /** Rounds that were run, the failing one included. */
    public int rounds() {
        return rounds;
    }

    /** Operations that were acknowledged. */
    public long acknowledged() {
        return acknowledged;
    }

    public boolean clean() {
        return problems.isEmpty();
    }

    /** What went wrong; empty when nothing did. */
    public List<String> problems() {
        return List.copyOf(problems);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d rounds %s, recovery killed %d times; %,d operations acknowledged, %,d more found that were under way;"
                        + " longest reopen %,.1f ms; %s",
                rounds,
                fates,
                interruptedRecoveries,
                acknowledged,
                kept,
                longestReopenNanos / NANOS_PER_MILLI,
                clean() ? "nothing was lost" : "FAILED");
    }
}
