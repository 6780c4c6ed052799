package io.caravan.server.archive.restore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.StoreConfig;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.archive.restore.TestStore.Reports;
import io.caravan.server.document.CreateRequest;
import io.caravan.server.document.CreateRequest.Created;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.StoreIdentity;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests restores to a store that was restored before, and that clients or other archives have used since. */
@Execution(ExecutionMode.CONCURRENT)
class RepeatedRestoreTest {
    private static final String WRITTEN = "written by a client";
    /** The number of values of a document that does not fit into one write. */
    private static final int LONG_COUNT = 60_000;

    @TempDir
    private Path directory;

    private final TestArchive archive = new TestArchive();
    private final MemoryObjects otherObjects = new MemoryObjects(InstantSource.system());
    private boolean allowOlder;
    private boolean allowMissing;

    @BeforeEach
    void archiveFirstGeneration() {
        archive.put("a", 7, 0, 10);
    }

    private Reports restore() {
        Reports reports = new Reports();
        StoreConfig config = SmallFiles.config(directory.resolve("data")).build();
        WholeRestore.toStore(archive.open(), config, 1, 4, allowOlder, allowMissing, reports);
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

    /** Makes the store one that a server has used with an archive, which need not be this one. */
    private void useWithArchive() {
        try (TestStore here = open()) {
            here.store.append(StoreIdentity.ARCHIVE_LIST_ID, new byte[1]).join();
        }
    }

    private void assertFaultKeepsValues(String why) {
        assertThat(restore().faults)
                .singleElement()
                .satisfies(fault -> assertThat(fault.why())
                        .contains(why)
                        .contains("generation 1")
                        .doesNotContain("has changes here"));
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 10));
        }
    }

    @Test
    void unchangedDocumentOfPrunedGenerationIsNotSaidToBeChanged() {
        restore();
        useWithArchive();
        archive.put("a", 7, 0, 12);
        archive.prune();
        archive.delete("a");
        assertFaultKeepsValues("is deleted in the archive");
    }

    /** The values that the archive has trimmed must neither stay unnoticed nor be deleted without a proof. */
    @ParameterizedTest
    @ValueSource(longs = {10, 12})
    void trimOfPrunedGenerationIsReported(long next) {
        restore();
        useWithArchive();
        archive.put("a", 7, 5, next);
        archive.prune();
        assertFaultKeepsValues("is trimmed in the archive");
    }

    @Test
    void unchangedDocumentOfPrunedGenerationIsReplacedIfNoServerHasArchivedIt() {
        restore();
        archive.put("a", 7, 5, 10);
        archive.prune();
        assertThat(restore().faults).isEmpty();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 5, 10));
        }
    }

    /** Restores a generation with many more values, and fails when it appends them. */
    private void interruptAppend() {
        String key = archive.put("a", 7, 0, LONG_COUNT).key();
        AtomicInteger reads = new AtomicInteger();
        archive.client.faults((number, call, read) ->
                read.equals(key) && reads.incrementAndGet() == 2 ? ObjectFault.RESPONSE_LOST : ObjectFault.NONE);
        assertThat(restore().faults).hasSize(1);
        archive.client.faults(ObjectFaults.NONE);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void interruptedAppendLeavesDocument(boolean missing) {
        restore();
        allowMissing = missing;
        interruptAppend();
        try (TestStore here = open()) {
            assertThat(here.read("a")).startsWith(TestArchive.texts(7, 0, 10).toArray(new String[0]));
        }
        assertThat(restore().faults).isEmpty();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, LONG_COUNT));
        }
    }

    /** Restores a document of which an earlier restore has appended only some values. */
    @Test
    void trimAfterInterruptedAppendIsRestored() {
        restore();
        interruptAppend();
        archive.put("a", 7, 5, LONG_COUNT + 1);
        assertThat(restore().faults).isEmpty();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 5, LONG_COUNT + 1));
        }
    }

    /** A value that a client has written must not be lost, although the document looks like an interrupted append. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void trimAfterClientsAppendIsReported(boolean interrupted) {
        restore();
        if (interrupted) {
            interruptAppend();
        }
        try (TestStore here = open()) {
            here.push("a", WRITTEN);
        }
        archive.put("a", 7, 5, LONG_COUNT + 1);
        assertThat(restore().faults)
                .singleElement()
                .satisfies(fault -> assertThat(fault.why())
                        .contains("is trimmed in the archive", "or only some of the values of a generation"));
        assertClientsValueStays();
    }

    /** The values between the mark and the generation cannot be compared with the archive. */
    @Test
    void trimBeyondMarkAfterInterruptedAppendIsReported() {
        restore();
        interruptAppend();
        archive.put("a", 7, 11, LONG_COUNT + 1);
        assertThat(restore().faults).hasSize(1);
    }

    @Test
    void unacceptableGrowthLeavesDocument() {
        restore();
        List<byte[]> values = new ArrayList<>(TestArchive.values(7, 0, 11));
        values.add(new byte[2 << 20]);
        archive.put("a", 7, 0, values, Attributes.EMPTY);
        assertThat(restore().faults).hasSize(1);
        try (TestStore here = open()) {
            assertThat(here.read("a")).startsWith(TestArchive.texts(7, 0, 10).toArray(new String[0]));
        }
    }

    /** The longer document does not fit into one write. */
    @ParameterizedTest
    @ValueSource(ints = {0, 10})
    void unacceptableReplacementLeavesDocument(int before) {
        restore();
        archive.delete("a");
        List<byte[]> values = new ArrayList<>(TestArchive.values(8, 0, before));
        values.add(new byte[2 << 20]);
        archive.put("a", 8, 0, values, Attributes.EMPTY);
        assertThat(restore().faults).hasSize(1);
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 10));
        }
    }

    @ParameterizedTest
    @CsvSource({"1,10", "2,10", "1," + LONG_COUNT, "2," + LONG_COUNT})
    void failureToReadReplacementLeavesDocument(int failing, int next) {
        restore();
        archive.delete("a");
        String key = archive.put("a", 8, 0, next).key();
        AtomicInteger reads = new AtomicInteger();
        archive.client.faults((number, call, read) ->
                read.equals(key) && reads.incrementAndGet() == failing ? ObjectFault.RESPONSE_LOST : ObjectFault.NONE);
        boolean failed = !restore().faults.isEmpty();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(failed ? TestArchive.texts(7, 0, 10) : TestArchive.texts(8, 0, next));
        }
        archive.client.faults(ObjectFaults.NONE);
        assertThat(restore().faults).isEmpty();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(8, 0, next));
        }
    }

    @Test
    void documentGrowsIfServerHasUsedTheStoreWithArchive() {
        restore();
        useWithArchive();
        archive.put("a", 7, 0, 12);
        archive.put("a", 7, 0, 14);
        assertThat(restore().faults).isEmpty();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 14));
        }
    }

    private void fork() {
        ForkPoint point = new ForkPoint(DocumentName.of("a"), OptionalLong.empty(), 0);
        CreateRequest fork = new CreateRequest(
                null, OptionalLong.empty(), OptionalLong.empty(), false, List.of("own".getBytes(UTF_8)), point);
        try (TestStore here = open()) {
            Outcome.<Created>await(outcome -> here.documents.create(DocumentName.of("fork"), fork, outcome));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {12, LONG_COUNT})
    void forkedDocumentGrows(int next) {
        restore();
        fork();
        archive.put("a", 7, 0, next);
        assertThat(restore().faults).isEmpty();
        assertThat(restore().faults).isEmpty();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, next));
            assertThat(here.read("fork")).contains("own").hasSize(11);
        }
    }

    /** Its name could not be used for the new document, because its forks need its values. */
    @ParameterizedTest
    @ValueSource(strings = {"trimmed", "changed", "deleted", "replaced"})
    void forkedDocumentStays(String how) {
        restore();
        fork();
        switch (how) {
            case "trimmed" -> archive.put("a", 7, 5, 12);
            case "changed" ->
                archive.put(
                        "a",
                        7,
                        0,
                        TestArchive.values(7, 0, 10),
                        DocumentAttributes.NONE.withContentType("text/plain").portable());
            case "deleted" -> archive.delete("a");
            default -> {
                archive.delete("a");
                archive.put("a", 8, 0, 12);
            }
        }
        assertThat(restore().faults)
                .singleElement()
                .satisfies(fault -> assertThat(fault.why())
                        .contains(how.equals("replaced") ? "another document" : "has forks here"));
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 10));
        }
    }

    @Test
    void forkedOlderGenerationStaysIfArchiveHasDeletedTheDocument() {
        restoreOlderGeneration();
        fork();
        archive.delete("a");
        assertThat(restore().faults)
                .singleElement()
                .satisfies(fault -> assertThat(fault.why()).contains("has forks here"));
    }

    private void restoreOlderGeneration() {
        archive.damage(archive.put("a", 7, 0, 20).key());
        allowOlder = true;
        assertThat(restore().faults).hasSize(1);
    }

    @Test
    void olderGenerationIsDeletedIfArchiveHasDeletedTheDocument() {
        restoreOlderGeneration();
        archive.delete("a");
        assertThat(restore().faults).isEmpty();
        try (TestStore here = open()) {
            assertThat(here.find("a")).isNull();
        }
    }

    @Test
    void changedOlderGenerationStaysIfArchiveHasDeletedTheDocument() {
        restoreOlderGeneration();
        try (TestStore here = open()) {
            here.push("a", WRITTEN);
        }
        archive.delete("a");
        assertClientsValueStays();
    }

    /** A server restores a deleted document at a user's request, and gives it the same mark. */
    @Test
    void olderGenerationStaysIfServerMayHaveRestoredIt() {
        restoreOlderGeneration();
        useWithArchive();
        archive.delete("a");
        restore();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 10));
        }
    }

    @Test
    void olderGenerationIsReadOnceToCompareIt() {
        String first = archive.objects().keys("snapshots/a/").get(0);
        restoreOlderGeneration();
        AtomicInteger reads = new AtomicInteger();
        archive.client.faults((number, call, key) -> {
            if (call == ObjectCall.OPEN && key.equals(first)) {
                reads.incrementAndGet();
            }
            return ObjectFault.NONE;
        });
        restore();
        assertThat(reads).hasValue(1);
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
