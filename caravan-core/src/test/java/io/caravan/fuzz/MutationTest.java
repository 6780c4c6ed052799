package io.caravan.fuzz;

import io.caravan.catalog.CatalogEntryTarget;
import org.junit.jupiter.api.Test;

/** A bounded pass of random inputs over each target of {@link CoreFuzz}, in every build. */
class MutationTest {
    @Test
    void frames() throws Exception {
        MutationPass.run(new FrameTarget(), 20, 50);
    }

    @Test
    void checkpoint() throws Exception {
        MutationPass.run(new CheckpointTarget(), 20, 50);
    }

    @Test
    void heapEntry() throws Exception {
        MutationPass.run(new HeapEntryTarget(), 20, 100);
    }

    @Test
    void fileHeader() throws Exception {
        MutationPass.run(new FileHeaderTarget(), 20, 100);
    }

    @Test
    void catalogEntry() throws Exception {
        MutationPass.run(new CatalogEntryTarget(), 20, 100);
    }

    @Test
    void store() throws Exception {
        MutationPass.run(new StoreTarget(), 20, 30);
    }
}
