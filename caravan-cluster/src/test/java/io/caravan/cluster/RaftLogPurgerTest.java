package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which entries of the Raft log may be purged. */
final class RaftLogPurgerTest {
    @TempDir
    Path segments;

    @Test
    void keepsEntriesThatStoreOrReceiverNeeds() {
        assertThat(RaftLogPurger.lastToPurge(90, 100, OptionalLong.empty())).isEqualTo(90);
        assertThat(RaftLogPurger.lastToPurge(200, 100, OptionalLong.empty())).isEqualTo(99);
        assertThat(RaftLogPurger.lastToPurge(200, 100, OptionalLong.of(40))).isEqualTo(39);
        assertThat(RaftLogPurger.lastToPurge(200, 100, OptionalLong.of(140))).isEqualTo(99);
    }

    @Test
    void keepsNewestSegmentsUpToLimit() throws IOException {
        RaftLogPurger purger = new RaftLogPurger(segments, 200);
        segment("log_inprogress_30", 1_000);
        segment("log_20-29", 100);
        segment("log_10-19", 100);
        assertThat(purger.lastBeyondLimit()).isEqualTo(-1);
        segment("log_5-9", 1);
        segment("log_0-4", 100);
        assertThat(purger.lastBeyondLimit()).isEqualTo(9);
    }

    private void segment(String name, int bytes) throws IOException {
        Files.write(segments.resolve(name), new byte[bytes]);
    }
}
