package io.caravan.fuzz;

import io.caravan.catalog.CatalogEntryTarget;
import io.caravan.testing.Rounds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs a bounded number of random inputs on each target of {@link CoreFuzz}, in every build. */
@Tag("rounds")
class MutationTest {
    private static final int SEEDS = Rounds.of(2, 40);

    @Test
    void frames() throws Exception {
        MutationPass.run(new FrameTarget(), SEEDS, 50);
    }

    @Test
    void checkpoint() throws Exception {
        MutationPass.run(new CheckpointTarget(), SEEDS, 50);
    }

    @Test
    void heapEntry() throws Exception {
        MutationPass.run(new HeapEntryTarget(), SEEDS, 100);
    }

    @Test
    void fileHeader() throws Exception {
        MutationPass.run(new FileHeaderTarget(), SEEDS, 100);
    }

    @Test
    void catalogEntry() throws Exception {
        MutationPass.run(new CatalogEntryTarget(), SEEDS, 100);
    }

    @Test
    void store() throws Exception {
        MutationPass.run(new StoreTarget(), SEEDS, 30);
    }
}
