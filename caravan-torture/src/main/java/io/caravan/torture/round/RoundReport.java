package io.caravan.torture.round;

import io.caravan.torture.model.Checker.Verdict;
import io.caravan.torture.model.Contents;
import io.caravan.torture.model.Ledger;
import io.caravan.torture.model.Ledger.Counts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Collects the events, numbers, and problems of one round for its report. */
public final class RoundReport {
    private static final double NANOS_PER_MILLI = 1e6;

    /** The ways in which a working process can end. */
    enum Fate {
        KILLED_AT_WORK,
        KILLED_AT_START,
        CLOSED;

        @Override
        public String toString() {
            return words(this);
        }
    }

    /** The kinds of trials that a working process can pass. */
    public enum Trial {
        PAUSED,
        SECOND_PROCESS_REJECTED,
        DISK_FULL,
        SPACE_BACK;

        @Override
        public String toString() {
            return words(this);
        }
    }

    private static String words(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    public final int round;
    public final long seed;
    public final List<String> problems = new ArrayList<>();
    public final List<Trial> trials = new ArrayList<>();
    public Fate fate = Fate.KILLED_AT_START;
    private long aliveMillis;
    public Counts counts = Counts.NONE;
    long kept;
    int interruptedRecoveries;
    private int lists;
    private long entries;
    public long reopenNanos;
    private long verifyNanos;

    public RoundReport(int round, long seed) {
        this.round = round;
        this.seed = seed;
    }

    public void problem(String words) {
        problems.add(words);
    }

    /** Records a trial that the working process has passed. */
    void suffered(Trial trial) {
        trials.add(trial);
    }

    public void ended(Fate how, long afterMillis, Ledger ledger) {
        fate = how;
        aliveMillis = afterMillis;
        counts = ledger.counts();
    }

    void recoveryInterrupted(List<String> problemsFound) {
        interruptedRecoveries++;
        problems.addAll(problemsFound);
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

    /** Returns a summary of the round in one line. */
    String line() {
        return String.format(
                Locale.ROOT,
                "round %4d  seed %016x  acked %,8d ops (+%d in flight)%s  %s after %,5d ms%s%s  found %d lists, %,d"
                        + " entries  reopen %,.1f ms  verify %,.1f ms  %s",
                round,
                seed,
                counts.acknowledged(),
                kept,
                counts.rejected() == 0
                        ? ""
                        : String.format(
                                Locale.ROOT,
                                ", %,d rejected (%,d trims and deletes)",
                                counts.rejected(),
                                counts.rejectedReleases()),
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
