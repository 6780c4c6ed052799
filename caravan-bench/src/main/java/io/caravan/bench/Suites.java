package io.caravan.bench;

import java.util.List;

/** The suites of {@code scripts/bench all}, in the order in which they run and are reported. */
public final class Suites {
    /** The names of the suites, which are also the names of their commands. */
    public static final List<String> NAMES = List.of("engine", "groups", "service", "cluster", "seeds");

    private Suites() {}
}
