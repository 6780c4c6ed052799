package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the durable applied index. */
final class AppliedIndexTest {
    private static final int FRAME_BYTES = 100_000;

    @TempDir
    Path directory;

    @Test
    void recordsOnlyFsyncedEntries() throws IOException {
        AppliedIndex mark = new AppliedIndex(directory);
        for (int i = 1; i <= 4; i++) {
            mark.applied(TermIndex.valueOf(1, i), (long) i * FRAME_BYTES);
        }
        mark.forced(FRAME_BYTES - 1);
        assertThat(mark.durable()).isNull();
        mark.forced(3 * FRAME_BYTES);
        AppliedIndex.Applied third = new AppliedIndex.Applied(TermIndex.valueOf(1, 3), 3 * FRAME_BYTES);
        assertThat(mark.durable()).isEqualTo(third);
        assertThat(new AppliedIndex(directory).durable()).isEqualTo(third);
    }

    @Test
    void recordsEntryCloseBeforeFsyncedLsn() throws IOException {
        AppliedIndex mark = new AppliedIndex(directory);
        for (int i = 1; i <= 1000; i++) {
            mark.applied(TermIndex.valueOf(1, i), 4096L * i);
        }
        mark.forced(4096L * 700);
        assertThat(mark.durable()).isNotNull();
        assertThat(mark.durable().entry().getIndex()).isBetween(650L, 700L);
        assertThat(mark.durable().endLsn())
                .isEqualTo(4096L * mark.durable().entry().getIndex());
    }

    @Test
    void reportsReceivedSnapshotOnceRaftInstallsIt() throws IOException {
        AppliedIndex mark = new AppliedIndex(directory);
        mark.applied(TermIndex.valueOf(1, 3), 3 * FRAME_BYTES);
        mark.forced(3 * FRAME_BYTES);
        AppliedIndex.Applied before = mark.durable();
        assertThat(mark.reported()).isEqualTo(before);
        mark.replaced(new AppliedIndex.Applied(TermIndex.valueOf(2, 90), 90 * FRAME_BYTES));
        mark.applied(TermIndex.valueOf(2, 95), 95 * FRAME_BYTES);
        mark.forced(95 * FRAME_BYTES);
        assertThat(mark.reported()).isEqualTo(before);
        mark.markReported();
        assertThat(mark.reported()).isEqualTo(mark.durable());
        mark.applied(TermIndex.valueOf(2, 99), 99 * FRAME_BYTES);
        mark.forced(99 * FRAME_BYTES);
        assertThat(mark.reported()).isEqualTo(new AppliedIndex.Applied(TermIndex.valueOf(2, 99), 99 * FRAME_BYTES));
    }

    /** Tests a received snapshot that Raft never installs, because no leader requests its installation. */
    @Test
    void uninstalledSnapshotBecomesOverdue() throws IOException {
        AppliedIndex mark = new AppliedIndex(directory);
        mark.applied(TermIndex.valueOf(1, 3), 3 * FRAME_BYTES);
        mark.forced(3 * FRAME_BYTES);
        assertThat(mark.isOverdue(1)).isFalse();
        mark.replaced(new AppliedIndex.Applied(TermIndex.valueOf(2, 90), 90 * FRAME_BYTES));
        assertThat(mark.isOverdue(2)).isFalse();
        assertThat(mark.isOverdue(2)).isTrue();
        mark.markReported();
        assertThat(mark.isOverdue(1)).isFalse();
        mark.replaced(new AppliedIndex.Applied(TermIndex.valueOf(2, 99), 99 * FRAME_BYTES));
        assertThat(mark.isOverdue(2)).as("the count restarts").isFalse();
    }

    @Test
    void rejectsDamagedFile() throws IOException {
        AppliedIndex mark = new AppliedIndex(directory);
        mark.applied(TermIndex.valueOf(2, 7), FRAME_BYTES);
        mark.forced(FRAME_BYTES);
        Path file = directory.resolve("applied");
        byte[] whole = Files.readAllBytes(file);
        for (int i = 0; i < whole.length; i++) {
            byte[] damaged = whole.clone();
            damaged[i] ^= 1;
            Files.write(file, damaged);
            assertThatIOException()
                    .isThrownBy(() -> new AppliedIndex(directory))
                    .withMessageContaining("applied is damaged");
        }
    }
}
