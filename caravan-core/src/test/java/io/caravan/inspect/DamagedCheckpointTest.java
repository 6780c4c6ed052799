package io.caravan.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.format.CheckpointLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.index.ListIndex;
import io.caravan.testing.MemoryStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DamagedCheckpointTest {
    private static final String NAME = FileNames.CHECKPOINT.of(1);

    /** Checks that the length of an otherwise intact file shows that the last sections are missing. */
    @Test
    void checkpointCutBetweenSectionsOfLastPartitionIsNotWhole() throws IOException {
        MemoryStorage storage = new MemoryStorage();
        write(storage);
        long lastSection = lastSection(storage);
        MemoryStorage cut = new MemoryStorage(storage.image().truncated(NAME, (int) lastSection));
        int last = ListIndex.PARTITIONS - 1;

        assertThat(read(storage).isWhole(last)).isTrue();
        assertThat(read(cut).isWhole(last)).isFalse();
        assertThat(read(cut).firstDamage).isEqualTo(lastSection);
        assertThat(read(cut).isWhole(last - 1)).isTrue();
    }

    private static DamagedCheckpoint read(MemoryStorage storage) throws IOException {
        try (CheckpointReader reader = new CheckpointReader(storage, 1)) {
            return new DamagedCheckpoint(reader, any -> true);
        }
    }

    /** Writes a checkpoint whose last partition has two sections. */
    private static void write(MemoryStorage storage) throws IOException {
        long[] regions = new long[CheckpointLayout.MAX_PAYLOAD_BYTES / Long.BYTES];
        long id = 0;
        while (ListIndex.partitionOf(id) != ListIndex.PARTITIONS - 1) {
            id++;
        }
        try (CheckpointWriter writer = new CheckpointWriter(storage, 1)) {
            for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
                writer.startPartition(partition, 4096);
                if (partition == ListIndex.PARTITIONS - 1) {
                    writer.list(id, 4096, 0, regions.length);
                    writer.regions(regions, 0, regions.length);
                }
                writer.endPartition();
            }
            writer.publish(new CheckpointHeader(
                    FileHeader.NEWEST_VERSION,
                    1,
                    7,
                    4096,
                    8192,
                    FrameLayout.Link.NONE,
                    writer.lists(),
                    writer.entries(),
                    32_768,
                    32_768,
                    1,
                    ListIndex.PARTITIONS));
        }
    }

    private static long lastSection(MemoryStorage storage) throws IOException {
        try (CheckpointReader reader = new CheckpointReader(storage, 1)) {
            AtomicLong offset = new AtomicLong();
            reader.read(new CheckpointReader.Visitor() {
                @Override
                public void partition(int partition, long captureLsn) {
                    offset.set(reader.corruptPiece("").offset());
                }

                @Override
                public void piece(
                        long id, long creationLsn, long first, long next, ByteBuffer regions, int at, int count) {}
            });
            return offset.get();
        }
    }
}
