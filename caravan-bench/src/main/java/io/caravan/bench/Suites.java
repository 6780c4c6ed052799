package io.caravan.bench;

import java.util.List;

/** The suites of {@code scripts/bench all}, in the order of their runs and reports. */
public final class Suites {
    /** Each is also the name of a command. */
    public static final List<String> NAMES = List.of("engine", "groups", "service", "cluster", "seeds");

    private Suites() {}
}
