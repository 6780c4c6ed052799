package io.caravan.server.archive.format;

import io.caravan.fuzz.MutationPass;
import org.junit.jupiter.api.Test;

/** A bounded pass of random inputs over the targets of {@link ArchiveFuzz}, in every build. */
class ArchiveMutationTest {
    @Test
    void snapshot() throws Exception {
        MutationPass.run(new SnapshotTarget(), 20, 100);
    }

    @Test
    void manifest() throws Exception {
        MutationPass.run(new ManifestTarget(), 20, 100);
    }
}
