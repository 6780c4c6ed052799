package io.caravan.bench.torture;

import io.caravan.bench.torture.Checker.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The report of one round. */
final class RoundReport {
    private static final double NANOS_PER_MILLI = 1e6;

    private final int round;
    private final long seed;
    private final List<String> problems = new ArrayList<>();
    private final List<Trial> trials = new ArrayList<>();
    private Fate fate = Fate.KILLED_AT_START;
    private long aliveMillis;
    private long acknowledged;
    private long refused;
    private long refusedReleases;
    private long reads;
    private long kept;
    private int interruptedRecoveries;
    private int lists;
    private long entries;
    private long reopenNanos;
    private long verifyNanos;

    RoundReport(int round, long seed) {
        this.round = round;
        this.seed = seed;
    }

    int round() {
        return round;
    }

    long seed() {
        return seed;
    }

    /** All problems; empty when there are none. */
    List<String> problems() {
        return problems;
    }

    void problem(String words) {
        problems.add(words);
    }

    Fate fate() {
        return fate;
    }

    List<Trial> trials() {
        return trials;
    }

    long acknowledged() {
        return acknowledged;
    }

    long refused() {
        return refused;
    }

    long refusedReleases() {
        return refusedReleases;
    }

    long reads() {
        return reads;
    }

    long kept() {
        return kept;
    }

    int interruptedRecoveries() {
        return interruptedRecoveries;
    }

    long reopenNanos() {
        return reopenNanos;
    }

    /** Records a trial that the working process has passed. */
    void suffered(Trial trial) {
        trials.add(trial);
    }

    void ended(Fate how, long afterMillis, Ledger ledger) {
        fate = how;
        aliveMillis = afterMillis;
        acknowledged = ledger.acknowledgedCount();
        refused = ledger.refusals();
        refusedReleases = ledger.refusedReleases();
        reads = ledger.reads();
    }

    void recoveryInterrupted(List<String> problemsTold) {
        interruptedRecoveries++;
        problems.addAll(problemsTold);
    }

    void checked(Verdict verdict, long openNanos, Contents found) {
        problems.addAll(verdict.problems());
        kept = verdict.kept();
        reopenNanos = openNanos;
        lists = found.lists().size();
        entries = found.entries();
    }

    void verified(long nanos) {
        verifyNanos = nanos;
    }

    /** A one-line summary of the round. */
    String line() {
        return String.format(
                Locale.ROOT,
                "round %4d  seed %016x  acked %,8d ops (+%d in flight)%s  %s after %,5d ms%s%s  found %d lists, %,d"
                        + " entries  reopen %,.1f ms  verify %,.1f ms  %s",
                round,
                seed,
                acknowledged,
                kept,
                refused == 0
                        ? ""
                        : String.format(Locale.ROOT, ", %,d refused (%,d trims and deletes)", refused, refusedReleases),
                fate,
                aliveMillis,
                trials.isEmpty() ? "" : " " + trials,
                interruptedRecoveries == 0 ? "" : ", recovery killed " + interruptedRecoveries + "x",
                lists,
                entries,
                reopenNanos / NANOS_PER_MILLI,
                verifyNanos / NANOS_PER_MILLI,
                problems.isEmpty() ? "ok" : "FAILED");
    }
}
