package io.caravan.server.archive.push;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Scenarios with what must hold at each of their steps; for tests of this build, and of sabotaged ones. */
public final class CrashScenarios {
    private CrashScenarios() {}

    /**
     * Runs the scenario of a seed and checks every image that it leaves.
     *
     * @throws AssertionError saying what does not hold, and after which crash
     */
    public static void check(long seed) throws IOException {
        List<CrashImage> images = new ArrayList<>();
        new CrashScenario(seed, images::add).run();
        for (CrashImage image : images) {
            new CrashCheck(image).run();
        }
    }
}
