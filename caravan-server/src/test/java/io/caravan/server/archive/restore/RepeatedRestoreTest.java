package io.caravan.server.archive.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.archive.restore.TestStore.Reports;
import io.caravan.server.document.StoreIdentity;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests restores to a store that was restored before, and that clients or other archives have used since. */
@Execution(ExecutionMode.CONCURRENT)
class RepeatedRestoreTest {
    private static final String WRITTEN = "written by a client";

    @TempDir
    private Path directory;

    private final TestArchive archive = new TestArchive();
    private final MemoryObjects otherObjects = new MemoryObjects(InstantSource.system());
    private boolean allowOlder;

    @BeforeEach
    void archiveFirstGeneration() {
        archive.put("a", 7, 0, 10);
    }

    private Reports restore() {
        Reports reports = new Reports();
        WholeRestore.toStore(
                archive.open(), SmallFiles.config(directory.resolve("data")).build(), 1, 4, allowOlder, false, reports);
        return reports;
    }

    private TestStore open() {
        return new TestStore(SmallFiles.open(directory.resolve("data")));
    }

    private boolean isIncomplete() {
        try (TestStore here = open()) {
            return StoreIdentity.incomplete(here.store);
        }
    }

    /** Writes to the document as a client, while the server archives the store to another location. */
    private void writeAndArchiveElsewhere() throws Exception {
        try (TestStore here = open()) {
            here.push("a", WRITTEN);
            try (Archiver archiver = Archiver.start(
                    here.documents,
                    here.store,
                    Claims.config(
                            "memory:other",
                            otherObjects::client,
                            true,
                            false,
                            false,
                            Duration.ofHours(1),
                            2,
                            0,
                            false))) {
                archiver.archiveNow(DocumentName.of("a")).get(30, TimeUnit.SECONDS);
            }
        }
    }

    private void assertClientsValueStays() {
        restore();
        try (TestStore here = open()) {
            assertThat(here.find("a")).isNotNull();
            assertThat(here.read("a")).contains(WRITTEN);
        }
    }

    @Test
    void newDocumentStaysIfArchiveHadDeletedItsPredecessor() throws Exception {
        archive.delete("a");
        restore();
        writeAndArchiveElsewhere();
        assertClientsValueStays();
    }

    @Test
    void newDocumentStaysIfArchiveHasAnotherOne() throws Exception {
        archive.delete("a");
        restore();
        writeAndArchiveElsewhere();
        archive.put("a", 8, 0, 10);
        assertClientsValueStays();
    }

    @Test
    void changedDocumentStaysIfArchiveHasTrimmedIt() throws Exception {
        restore();
        writeAndArchiveElsewhere();
        archive.put("a", 7, 0, 12);
        archive.put("a", 7, 0, 13);
        archive.put("a", 7, 3, 14);
        assertClientsValueStays();
    }

    @Test
    void changedDocumentStaysIfArchiveHasDeletedIt() throws Exception {
        restore();
        writeAndArchiveElsewhere();
        archive.delete("a");
        assertClientsValueStays();
    }

    /** Checks a generation that has the number and the sequences of the one that is archived elsewhere. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void changedDocumentStaysIfArchiveHasEqualSequences(boolean deleted) throws Exception {
        restore();
        writeAndArchiveElsewhere();
        archive.put("a", 7, 0, 11);
        if (deleted) {
            archive.delete("a");
        } else {
            archive.put("a", 7, 3, 14);
        }
        assertClientsValueStays();
    }

    @Test
    void documentStaysIfArchiveIsOlder() {
        Map<String, byte[]> older = new HashMap<>();
        archive.objects()
                .keys("")
                .forEach(key -> older.put(key, archive.objects().content(key)));
        archive.delete("a");
        archive.put("a", 8, 0, 3);
        restore();
        archive.objects().keys("").forEach(archive.objects()::delete);
        older.forEach(archive.objects()::put);
        restore();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(8, 0, 3));
        }
    }

    @Test
    void olderGenerationCountsAsRestoredAndIsNotChanged() {
        restore();
        archive.put("a", 7, 5, 15);
        Generation latest = archive.put("a", 7, 5, 20);
        byte[] intact = archive.objects().content(latest.key());
        archive.damage(latest.key());
        allowOlder = true;
        restore();
        assertThat(isIncomplete()).isFalse();
        restore();
        assertThat(isIncomplete()).isFalse();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 5, 15));
        }
        archive.objects().put(latest.key(), intact);
        assertThat(restore().faults).hasSize(1);
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 5, 15));
        }
    }
}
