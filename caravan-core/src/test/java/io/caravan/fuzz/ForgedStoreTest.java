package io.caravan.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.VerifyReport;
import io.caravan.engine.Recovered;
import io.caravan.engine.Recovery;
import io.caravan.inspect.Verifier;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.MemoryStorage;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Checks that the samples from which random inputs are made are intact. Otherwise, targets would reject all random
 * inputs immediately.
 */
class ForgedStoreTest {

    private static void assertSound(DirectoryImage image, long frames, long entries) throws IOException {
        VerifyReport report = Verifier.verify(new MemoryStorage(image), VerifyReport.Progress.NONE);
        assertThat(report.faults()).isEmpty();
        assertThat(report.entries()).isEqualTo(entries);
        try (Recovered recovered = new Recovery(new MemoryStorage(image)).recover()) {
            assertThat(recovered.end().frames()).isEqualTo(frames);
        }
    }

    @Test
    void imageIsIntactAndDeterministic() throws Exception {
        DirectoryImage image = ForgedStore.image();
        assertSound(image, 2, 8);
        assertThat(image.names("checkpoint-")).hasSize(2);
        assertThat(ForgedStore.image().differences(image)).isEmpty();
    }

    @Test
    void resealingLeavesIntactStoreUnchanged() throws Exception {
        StoreTarget target = new StoreTarget();
        assertThat(target.made(new byte[] {0}).differences(ForgedStore.image())).isEmpty();
    }

    @Test
    void sampleFramesAreReplayed() throws Exception {
        FrameTarget target = new FrameTarget();
        List<byte[]> samples = target.samples();
        assertSound(target.made(samples.get(samples.size() - 1)), 6, 8);
        assertSound(target.made(samples.get(0)), 1, 3);
    }

    @Test
    void sampleCheckpointIsIntact() throws Exception {
        CheckpointTarget target = new CheckpointTarget();
        assertSound(target.made(target.samples().get(0)), 2, 8);
    }
}
