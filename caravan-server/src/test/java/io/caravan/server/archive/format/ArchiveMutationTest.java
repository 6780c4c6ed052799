package io.caravan.server.archive.format;

import io.caravan.fuzz.MutationPass;
import io.caravan.testing.Rounds;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the targets of {@link ArchiveFuzz} with a bounded number of random inputs, in every build. */
@Tag("rounds")
class ArchiveMutationTest {
    private static final int SEEDS = Rounds.of(4, 40);

    @Test
    void snapshotReaderHandlesMutatedInput() throws Exception {
        MutationPass.run(new SnapshotTarget(), SEEDS, 100);
    }

    @Test
    void manifestDecoderHandlesMutatedInput() throws Exception {
        MutationPass.run(new ManifestTarget(), SEEDS, 100);
    }
}
