package io.caravan;

import static io.caravan.testing.StoreCalls.append;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.ImageStorage;
import io.caravan.testing.SmallStore;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store of format version 3 whose release captured the index partition by partition, made by that release and killed:
 * all lists were appended to, trimmed, deleted and made again twice while its newest checkpoint was written. The list of
 * what it holds was read by that release too.
 */
class PartitionedCheckpointTest {
    @TempDir
    Path directory;

    @Test
    void aStoreWhosePartitionsWereCapturedAtSeveralLsnsOpens() throws Exception {
        VersionOneStoreTest.unpack("store-v3-partitions.zip", directory);
        assertThat(capturesOf(1)).hasSizeGreaterThan(2);
        assertThat(DurableListStore.verify(directory, VerifyReport.Progress.NONE)
                        .faults())
                .isEmpty();
        try (DurableListStore store =
                DurableListStore.open(SmallStore.config(directory).build())) {
            assertThat(VersionOneStoreTest.contents(store))
                    .isEqualTo(VersionOneStoreTest.expected("store-v3-partitions.txt"));
            append(store, 1, "goes on");
            store.checkpoint();
        }
        assertThat(capturesOf(3))
                .as("the checkpoint after the one that opening made")
                .hasSize(1);
        assertThat(DurableListStore.verify(directory, VerifyReport.Progress.NONE)
                        .faults())
                .isEmpty();
    }

    private TreeSet<Long> capturesOf(long checkpoint) throws Exception {
        TreeSet<Long> captures = new TreeSet<>();
        ImageStorage files = new ImageStorage(DirectoryImage.of(directory));
        try (CheckpointReader reader = new CheckpointReader(files, checkpoint)) {
            reader.read(new CheckpointReader.Visitor() {
                @Override
                public void partition(int partition, long captureLsn) {
                    captures.add(captureLsn);
                }

                @Override
                public void piece(long id, long birth, long first, long next, ByteBuffer regions, int at, int count) {}
            });
        }
        return captures;
    }
}
