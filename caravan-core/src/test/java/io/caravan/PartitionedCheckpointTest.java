package io.caravan;

import static io.caravan.testing.StoreCalls.append;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreCalls;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.TreeSet;
import java.util.zip.CRC32C;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store of format version 3, written by a release that captured the index partition by partition, and killed. All
 * lists were appended to, trimmed, deleted, and recreated twice while the newest checkpoint was written. That release
 * also read the list of the expected contents.
 */
class PartitionedCheckpointTest {
    @TempDir
    Path directory;

    @Test
    void aStoreWhosePartitionsWereCapturedAtSeveralLsnsOpens() throws Exception {
        unpack();
        assertThat(capturesOf(1)).hasSizeGreaterThan(2);
        assertThat(DurableListStore.verify(directory, VerifyReport.Progress.NONE)
                        .faults())
                .isEmpty();
        try (DurableListStore store =
                DurableListStore.open(SmallStore.config(directory).build())) {
            assertThat(contents(store)).isEqualTo(expected());
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

    private static InputStream resource(String name) {
        return Objects.requireNonNull(PartitionedCheckpointTest.class.getResourceAsStream(name), name);
    }

    private void unpack() throws IOException {
        try (ZipInputStream files = new ZipInputStream(resource("store-v3-partitions.zip"))) {
            for (ZipEntry file = files.getNextEntry(); file != null; file = files.getNextEntry()) {
                Files.write(directory.resolve(file.getName()), files.readAllBytes());
            }
        }
    }

    private static String expected() throws IOException {
        try (InputStream text = resource("store-v3-partitions.txt")) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String contents(ListStore store) {
        StringBuilder text = new StringBuilder();
        TreeSet<Long> ids = new TreeSet<>();
        store.forEachList(ids::add);
        for (long id : ids) {
            ListInfo info = Objects.requireNonNull(store.info(id));
            text.append("list %d: %d to %d%n".formatted(id, info.firstSequence(), info.nextSequence()));
            store.get(id, StoreCalls.each((sequence, value) -> text.append(line(sequence, value))));
        }
        return text.toString();
    }

    private static String line(long sequence, ByteBuffer value) {
        CRC32C crc = new CRC32C();
        int bytes = value.remaining();
        crc.update(value);
        return "  %d: %d bytes, CRC-32C %x%n".formatted(sequence, bytes, crc.getValue());
    }

    private TreeSet<Long> capturesOf(long checkpoint) throws Exception {
        TreeSet<Long> captures = new TreeSet<>();
        MemoryStorage files = new MemoryStorage(DirectoryImage.of(directory));
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
