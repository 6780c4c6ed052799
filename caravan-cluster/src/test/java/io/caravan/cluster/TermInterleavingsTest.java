package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.LongTimeout;
import io.caravan.testing.Rounds;
import io.caravan.testing.simulator.Exploration;
import io.caravan.testing.simulator.SourceEdit;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Explores interleavings of the end of a term with the commits of its last frames. */
@LongTimeout
final class TermInterleavingsTest {
    private static final int INTERLEAVINGS = Rounds.of(1_000, 20_000);

    @TempDir
    Path directory;

    private Exploration exploration(SourceEdit... edits) throws Exception {
        return new Exploration(TermInterleavings.class, List.of(edits), directory, RaftFrameReplicator.class);
    }

    @Test
    @Tag("rounds")
    void acknowledgedFramesAreCommittedAndNoneWaitsForever() throws Exception {
        exploration().run(INTERLEAVINGS);
    }

    /**
     * Tests a flusher that begins to wait just after the end of the term. Without a check for the end of the term, the
     * flusher would never wake up.
     */
    @Test
    @Tag("thorough")
    void detectsProposalAfterEndOfTerm() throws Exception {
        assertFound("if (abandoned != null) {", "if (abandoned != null && pending != null) {");
    }

    @Test
    @Tag("thorough")
    void detectsAcknowledgmentOfUncommittedFrame() throws Exception {
        assertFound("pending.completeExceptionally(why);", "pending.complete(null);");
    }

    private void assertFound(String from, String to) throws Exception {
        String found = exploration(new SourceEdit("cluster/RaftFrameReplicator", from, to))
                .firstFailure(1, 5_000);
        assertThat(found).isNotNull();
        System.out.println("found with " + found);
    }
}
