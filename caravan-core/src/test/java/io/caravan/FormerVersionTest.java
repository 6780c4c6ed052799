package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.fuzz.Reseal;
import io.caravan.io.FileStorage;
import io.caravan.testing.CheckpointDump;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.Faults;
import io.caravan.testing.FormerStore;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Opens stores that earlier releases wrote. */
class FormerVersionTest {
    @TempDir
    Path built;

    @TempDir
    Path directory;

    /** Returns a copy of the image in which all file headers state this version. */
    private static DirectoryImage labelled(int version, DirectoryImage image) {
        DirectoryImage labelled = image;
        for (String name : image.files().keySet()) {
            labelled = labelled.edited(name, file -> {
                file.putInt(FileHeader.VERSION, version);
                Reseal.fileHeader(file);
            });
        }
        return labelled;
    }

    private int newestCheckpointVersion() throws IOException {
        String newest = DirectoryImage.of(directory).last("checkpoint-");
        long number = FileNames.CHECKPOINT.number(newest).orElseThrow();
        try (CheckpointReader reader = new CheckpointReader(FileStorage.readOnly(directory), number)) {
            return reader.header().version();
        }
    }

    private DurableListStore open() {
        return DurableListStore.open(SmallStore.config(directory).build());
    }

    /** Checks that the new checkpoint's version makes an older release reject the store instead of reporting damage. */
    @ParameterizedTest
    @CsvSource({"open", "closed"})
    void openingEarlierVersionWritesNewCheckpoint(String formerVersion) throws Exception {
        FormerStore.of(formerVersion).writeTo(directory);
        assertThat(newestCheckpointVersion()).isEqualTo(FileHeader.OLDEST_VERSION);
        StoreContents contents = SmallStore.build(built).contents();
        try (ListStore opened = open()) {
            assertThat(newestCheckpointVersion()).isEqualTo(FileHeader.NEWEST_VERSION);
            assertThat(StoreContents.of(opened)).isEqualTo(contents);
            StoreCalls.await(opened.append(3, new byte[] {1}));
        }
        assertThat(Faults.of(directory)).isEmpty();
    }

    /** Checks replay from the last checkpoint of the earlier version, through old frames and then new ones. */
    @ParameterizedTest
    @CsvSource({"open", "closed"})
    void replaysNewFramesAfterFramesOfEarlierVersion(String formerVersion) throws Exception {
        FormerStore.of(formerVersion).writeTo(directory);
        DirectoryImage killed;
        StoreContents contents;
        try (ListStore opened = open()) {
            StoreCalls.append(opened, 3, "new");
            StoreCalls.append(opened, 3, "and newer");
            contents = StoreContents.of(opened);
            killed = DirectoryImage.of(directory);
        }
        Path damaged = built.resolve("damaged");
        killed.withFlip(killed.last("checkpoint-"), killed.length(killed.last("checkpoint-")) - 9)
                .writeTo(damaged);
        try (ListStore opened = DurableListStore.open(SmallStore.config(damaged).build())) {
            assertThat(StoreContents.of(opened)).isEqualTo(contents);
        }
    }

    @Test
    void rejectsUnsupportedVersionWithoutChanges() throws Exception {
        DirectoryImage old = labelled(FileHeader.OLDEST_VERSION - 1, FormerStore.of("closed"));
        old.writeTo(directory);
        assertThatExceptionOfType(StoreVersionException.class)
                .isThrownBy(this::open)
                .withMessageContaining("format version 2");
        assertThat(DirectoryImage.of(directory).differences(old)).isEmpty();
    }

    /**
     * Opens a killed store that was last used by a release that captured the index partition by partition. All lists
     * were appended to, trimmed, deleted, and recreated twice while the newest checkpoint was being written. The
     * expected contents were read with that release.
     */
    @Test
    void opensStoreWithPartitionsCapturedAtSeveralLsns() throws Exception {
        FormerStore.read("/io/caravan/store-v3-partitions.zip", "").writeTo(directory);
        assertThat(capturesOf(1)).hasSizeGreaterThan(2);
        assertThat(Faults.of(directory)).isEmpty();
        try (DurableListStore store = open()) {
            assertThat(contents(store)).isEqualTo(expected());
            StoreCalls.append(store, 1, "goes on");
            store.checkpoint();
        }
        assertThat(capturesOf(3))
                .as("the checkpoint after the one that opening made")
                .hasSize(1);
        assertThat(Faults.of(directory)).isEmpty();
    }

    private static String expected() throws IOException {
        try (InputStream text =
                Objects.requireNonNull(FormerVersionTest.class.getResourceAsStream("store-v3-partitions.txt"))) {
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

    private Set<Long> capturesOf(long checkpoint) throws Exception {
        MemoryStorage files = new MemoryStorage(DirectoryImage.of(directory));
        try (CheckpointReader reader = new CheckpointReader(files, checkpoint)) {
            return Set.copyOf(CheckpointDump.of(reader).captures());
        }
    }
}
