package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.fuzz.Reseal;
import io.caravan.io.ReadOnlyStorage;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.FormerStore;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stores of earlier releases. */
class FormerVersionTest {
    @TempDir
    Path built;

    @TempDir
    Path directory;

    /**
     * Returns the image with this version in all headers. Versions 2 and 3 differ only in a frame that follows one that
     * was not fsynced.
     */
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
        try (CheckpointReader reader = new CheckpointReader(ReadOnlyStorage.of(directory), number)) {
            return reader.header().version();
        }
    }

    private DurableListStore open() {
        return DurableListStore.open(SmallStore.config(directory).build());
    }

    /** The checkpoint makes an older release reject the store because of its version, instead of reporting damage. */
    @ParameterizedTest
    @CsvSource({"2, open", "2, closed", "3, open", "3, closed"})
    void anEarlierVersionIsCarriedOverByACheckpointBeforeTheFirstWrite(int version, String folder) throws Exception {
        labelled(version, FormerStore.of(folder)).writeTo(directory);
        assertThat(newestCheckpointVersion()).isEqualTo(version);
        StoreContents contents = SmallStore.build(built).contents();
        try (ListStore opened = open()) {
            assertThat(newestCheckpointVersion()).isEqualTo(FileHeader.NEWEST_VERSION);
            assertThat(StoreContents.of(opened)).isEqualTo(contents);
            StoreCalls.await(opened.append(3, new byte[] {1}));
        }
        assertThat(DurableListStore.verify(directory, VerifyReport.Progress.NONE)
                        .faults())
                .isEmpty();
    }

    /** The older checkpoint is the last one of the earlier version, and new frames follow old ones after it. */
    @ParameterizedTest
    @CsvSource({"open", "closed"})
    void newFramesFollowThoseOfAnEarlierVersion(String folder) throws Exception {
        FormerStore.of(folder).writeTo(directory);
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
    void anOlderVersionIsRefusedAndChangesNothing() throws Exception {
        DirectoryImage old = labelled(FileHeader.OLDEST_VERSION - 1, FormerStore.of("closed"));
        old.writeTo(directory);
        assertThatExceptionOfType(StoreVersionException.class)
                .isThrownBy(this::open)
                .withMessageContaining("format version 1");
        assertThat(DirectoryImage.of(directory).differences(old)).isEmpty();
    }
}
