package io.caravan.testing.simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Records the events of a simulation, in order. Costs nothing while recording is off. */
final class Story {
    private static final int LAST_LINES = 100_000;

    private final boolean recorded;
    private final List<String> lines = new ArrayList<>();
    private int depth;

    Story(boolean recorded) {
        this.recorded = recorded;
    }

    void note(Supplier<String> line) {
        if (recorded) {
            lines.add("  ".repeat(depth) + line.get());
        }
    }

    /** Indents all lines until {@link #leave()} is called. */
    void enter() {
        depth++;
    }

    void leave() {
        depth--;
    }

    /** Returns the recorded lines, but at most the last 100,000. */
    List<String> lines() {
        return List.copyOf(lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    }
}
