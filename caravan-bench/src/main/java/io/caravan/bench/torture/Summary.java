package io.caravan.bench.torture;

import java.util.ArrayList;
import java.util.List;

/** How many rounds there were, and whether anything was wrong; what else came of them is the subclass's. */
abstract class Summary {
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

    /** The problems; empty when there are none. */
    final List<String> problems() {
        return List.copyOf(problems);
    }

    /** The last line of the summary. */
    final String verdict() {
        return clean() ? "no faults: nothing was lost" : problems.size() + " FAULTS";
    }
}
