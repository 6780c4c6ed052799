package io.caravan.server.archive.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.S3Server;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.server.archive.object.S3Options;
import io.caravan.server.archive.restore.RestoreProgress.Figures;
import io.caravan.server.archive.restore.TestStore.Reports;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests restores of an entire store from a bucket and from a directory. */
class S3RestoreTest {
    private static final int DOCUMENTS = 60;
    private static final int VALUES = 20;
    private static final int LARGE_VALUES = 40;
    private static final int LARGE_VALUE_BYTES = 500_000;

    @TempDir
    private Path directory;

    private static DocumentName name(int number) {
        return DocumentName.of(new byte[] {(byte) number, '/', (byte) 0xFF, '.', '.'});
    }

    private static List<byte[]> largeValues() {
        Random random = new Random(7);
        List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < LARGE_VALUES; i++) {
            byte[] value = new byte[LARGE_VALUE_BYTES];
            random.nextBytes(value);
            values.add(value);
        }
        return values;
    }

    private static void fill(ObjectStore objects) {
        Archive archive = Claims.claim(objects, TestArchive.STORE, "test", TestArchive.CLOCK);
        for (int i = 0; i < DOCUMENTS; i++) {
            TestArchive.put(archive, name(i), i, 5, TestArchive.values(i, 5, 5 + VALUES), Attributes.EMPTY);
        }
        TestArchive.put(archive, DocumentName.of("large"), 7, 0, largeValues(), Attributes.EMPTY);
    }

    private Figures restore(ObjectStore objects) {
        Reports reports = new Reports();
        WholeRestore.toStore(
                Archive.open(objects),
                SmallFiles.config(directory.resolve("data")).build(),
                1,
                8,
                false,
                false,
                reports);
        assertThat(reports.faults).isEmpty();
        return reports.figures();
    }

    private void requireRestored() {
        try (TestStore here = new TestStore(SmallFiles.open(directory.resolve("data")))) {
            assertThat(here.documents.documents()).isEqualTo(DOCUMENTS + 1);
            for (int i = 0; i < DOCUMENTS; i++) {
                assertThat(here.documents.find(name(i)).firstSequence()).isEqualTo(5);
                assertThat(here.documents.find(name(i)).nextSequence()).isEqualTo(5 + VALUES);
            }
            assertThat(here.bytes("large"))
                    .usingElementComparator(Arrays::compare)
                    .containsExactlyElementsOf(largeValues());
        }
    }

    @Test
    @Tag("slow")
    void restoresFromBucket() throws Exception {
        try (S3Server s3 = S3Server.start();
                ObjectStore objects =
                        ObjectStores.place(S3Server.url("some/prefix")).open(s3.options())) {
            fill(objects);
            assertThat(restore(objects).restored()).isEqualTo(DOCUMENTS + 1);
            requireRestored();
            s3.stop();
            assertThatThrownBy(() -> restore(objects)).isInstanceOf(ObjectStoreException.class);
            s3.restart();
            assertThat(restore(objects).present()).isEqualTo(DOCUMENTS + 1);
        }
    }

    @Test
    void restoresFromDirectory() {
        String url = "file:" + directory.resolve("archive");
        try (ObjectStore objects = ObjectStores.place(url).open(new S3Options(null, null, false))) {
            fill(objects);
            assertThat(restore(objects).restored()).isEqualTo(DOCUMENTS + 1);
            requireRestored();
        }
    }
}
