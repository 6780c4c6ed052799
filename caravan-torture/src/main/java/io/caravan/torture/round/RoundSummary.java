package io.caravan.torture.round;

import java.util.ArrayList;
import java.util.List;

/** Summarizes all rounds: their number, and the problems found. Subclasses add further results. */
public abstract class RoundSummary {
    private final List<String> problems = new ArrayList<>();
    private int rounds;

    public final void round() {
        rounds++;
    }

    public final void problem(String words) {
        problems.add(words);
    }

    /** Returns the number of rounds, including a failed one. */
    public final int rounds() {
        return rounds;
    }

    public final boolean clean() {
        return problems.isEmpty();
    }

    /** Returns the problems found; empty if there are none. */
    public final List<String> problems() {
        return List.copyOf(problems);
    }

    /** Returns the last line of the summary. */
    public final String verdict() {
        return clean() ? "no faults: nothing was lost" : problems.size() + " FAULTS";
    }
}
