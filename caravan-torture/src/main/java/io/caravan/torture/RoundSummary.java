package io.caravan.torture;

import java.util.ArrayList;
import java.util.List;

/** Summarizes all rounds: their number, and the problems found. Subclasses add further results. */
abstract class RoundSummary {
    private final List<String> problems = new ArrayList<>();
    private int rounds;

    final void round() {
        rounds++;
    }

    final void problem(String words) {
        problems.add(words);
    }

    /** Returns the number of rounds, including a failed one. */
    final int rounds() {
        return rounds;
    }

    final boolean clean() {
        return problems.isEmpty();
    }

    /** Returns the problems found; empty if there are none. */
    final List<String> problems() {
        return List.copyOf(problems);
    }

    /** Returns the last line of the summary. */
    final String verdict() {
        return clean() ? "no faults: nothing was lost" : problems.size() + " FAULTS";
    }
}
