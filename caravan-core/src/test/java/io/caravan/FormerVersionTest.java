package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.fuzz.Reseal;
import io.caravan.io.ReadOnlyStorage;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreCalls;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store whose files are of another format version. What a store forces at each write is the same in version 2. */
class FormerVersionTest {
    @TempDir
    static Path built;

    @TempDir
    Path directory;

    private static DirectoryImage ofVersion(int version, DirectoryImage image) {
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

    /** So that a release that knows the version before only refuses the store, and does not take it for damaged. */
    @Test
    void theVersionBeforeIsCarriedOverByACheckpointBeforeTheFirstWrite() throws Exception {
        SmallStore store = SmallStore.build(built.resolve("carried"));
        ofVersion(FileHeader.OLDEST_VERSION, store.closed()).writeTo(directory);
        assertThat(newestCheckpointVersion()).isEqualTo(FileHeader.OLDEST_VERSION);
        try (ListStore opened =
                DurableListStore.open(SmallStore.config(directory).build())) {
            assertThat(newestCheckpointVersion()).isEqualTo(FileHeader.NEWEST_VERSION);
            assertThat(StoreContents.of(opened)).isEqualTo(store.contents());
            StoreCalls.await(opened.append(3, new byte[] {1}));
        }
        assertThat(DurableListStore.verify(directory, VerifyReport.Progress.NONE)
                        .faults())
                .isEmpty();
    }

    @Test
    void anOlderVersionIsRefusedAndChangesNothing() throws Exception {
        DirectoryImage old = ofVersion(
                FileHeader.OLDEST_VERSION - 1,
                SmallStore.build(built.resolve("refused")).closed());
        old.writeTo(directory);
        assertThatExceptionOfType(StoreVersionException.class)
                .isThrownBy(
                        () -> DurableListStore.open(SmallStore.config(directory).build()))
                .withMessageContaining("format version 1");
        assertThat(DirectoryImage.of(directory).differences(old)).isEmpty();
    }
}
