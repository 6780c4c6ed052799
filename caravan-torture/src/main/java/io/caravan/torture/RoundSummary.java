package io.caravan.torture;

import java.util.ArrayList;
import java.util.List;

/** The number of rounds, and the problems. Subclasses add further results. */
abstract class RoundSummary {
    private final List<String> problems = new ArrayList<>();
    private int rounds;

    final void round() {
        rounds++;
    }

    final void problem(String words) {
        problems.add(words);
    }

    /** Number of rounds, including a failed one. */
    final int rounds() {
        return rounds;
    }

    final boolean clean() {
        return problems.isEmpty();
    }

    /** The problems; empty if there are none. */
    final List<String> problems() {
        return List.copyOf(problems);
    }

    /** The last line of the summary. */
    final String verdict() {
        return clean() ? "no faults: nothing was lost" : problems.size() + " FAULTS";
    }
}
