package io.caravan.testing.simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** What happened in a simulation, in order; costs nothing when nobody wants to read it. */
final class Story {
    private static final int LAST_LINES = 100_000;

    private final boolean told;
    private final List<String> lines = new ArrayList<>();
    private int depth;

    Story(boolean told) {
        this.told = told;
    }

    void note(Supplier<String> line) {
        if (told) {
            lines.add("  ".repeat(depth) + line.get());
        }
    }

    /** What is noted from here on happens inside of something, until {@link #leave()}. */
    void enter() {
        depth++;
    }

    void leave() {
        depth--;
    }

    /** All of it, or as much of the end as anybody can read. */
    List<String> lines() {
        return List.copyOf(lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    }
}
