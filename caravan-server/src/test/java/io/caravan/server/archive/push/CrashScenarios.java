package io.caravan.server.archive.push;

import java.io.IOException;

/** Scenarios with what must hold at each of their steps; for tests of this build, and of sabotaged ones. */
public final class CrashScenarios {
    private CrashScenarios() {}

    /**
     * Runs the scenario of a seed.
     *
     * @throws AssertionError saying what does not hold, and after which crash
     */
    public static void check(long seed) throws IOException {
        new CrashScenario(seed).run();
    }
}
