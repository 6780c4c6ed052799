package io.caravan.server.archive.push;

import io.caravan.server.archive.format.ArchiveException;
import java.io.IOException;

/** The entry point of the crash scenarios for tests of this build and of sabotaged ones. */
public final class CrashScenarios {
    private CrashScenarios() {}

    /**
     * Runs the scenario of a seed.
     *
     * @throws AssertionError if a check fails; the message names the crash
     */
    public static void check(long seed) throws IOException {
        try {
            new CrashScenario(seed).run();
        } catch (ArchiveException damaged) {
            throw new AssertionError("the host finds its archive damaged: " + damaged.getMessage(), damaged);
        }
    }
}
