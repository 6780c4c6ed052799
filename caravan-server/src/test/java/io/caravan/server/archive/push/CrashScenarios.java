package io.caravan.server.archive.push;

import io.caravan.server.archive.format.ArchiveException;
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
        try {
            new CrashScenario(seed).run();
        } catch (ArchiveException damaged) {
            throw new AssertionError("the host finds its archive damaged: " + damaged.getMessage(), damaged);
        }
    }
}
