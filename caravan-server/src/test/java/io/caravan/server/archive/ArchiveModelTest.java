package io.caravan.server.archive;

import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests random interleavings of a pruner and two servers that compete for the same archive. */
@Tag("rounds")
class ArchiveModelTest {
    private static final int SEEDS = Integer.getInteger("caravan.archive.seeds", Rounds.of(10, 200));
    private static final int STEPS = 150;

    @Test
    void randomInterleavingsKeepArchiveIntact() {
        Seeds.forEach(SEEDS, seed -> {
            ArchiveModel model = new ArchiveModel(seed);
            for (int step = 0; step < STEPS; step++) {
                model.step();
            }
            model.assertSomethingHappened();
        });
    }
}
