package io.caravan.server.archive.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Seeds;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A host may die at any step of archiving and pruning. */
class CrashStepsTest {
    private static final int SEEDS = 4;

    @Test
    void aHostMayDieAtAnyStep() {
        Seeds.forEach(SEEDS, CrashStepsTest::run);
    }

    private static void run(long seed) throws IOException {
        List<CrashImage> images = new ArrayList<>();
        new CrashScenario(seed, images::add).run();
        assertThat(images).isNotEmpty();
        for (CrashImage image : images) {
            new CrashCheck(image).run();
        }
    }
}
