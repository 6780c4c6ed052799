package io.caravan.server.archive.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.app.Server;
import io.caravan.server.app.ServerConfig;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.restore.RestoreProgress.Figures;
import io.caravan.server.archive.restore.RestoreProgress.RestoreFault;
import io.caravan.server.archive.restore.TestStore.Reports;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.StoreIdentity;
import io.caravan.server.protocol.resp.RespLimits;
import io.caravan.testing.Seeds;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests restores of an entire store from its archive. */
@Execution(ExecutionMode.CONCURRENT)
class WholeRestoreTest {
    private static final int JOBS = 4;
    private static final int LONG_COUNT = 30_000;

    @TempDir
    private Path directory;

    private final TestArchive archive = new TestArchive();
    private Reports reports = new Reports();
    private boolean allowOlder;
    private boolean allowMissing;

    private Path data() {
        return directory.resolve("data");
    }

    private Figures restore() {
        reports = new Reports();
        return restore(reports);
    }

    private Figures restore(RestoreProgress progress) {
        WholeRestore.toStore(
                archive.open(), SmallFiles.config(data()).build(), 1, JOBS, allowOlder, allowMissing, progress);
        return progress.figures();
    }

    private TestStore open() {
        return new TestStore(SmallFiles.open(data()));
    }

    private void fill(int documents) {
        for (int i = 0; i < documents; i++) {
            archive.put("d" + i, i, i, i + i % 7);
        }
    }

    private void requireFilled(int documents) {
        try (TestStore here = open()) {
            assertThat(here.documents.documents()).isEqualTo(documents);
            for (int i = 0; i < documents; i++) {
                assertThat(here.read("d" + i)).isEqualTo(TestArchive.texts(i, i, i + i % 7));
                assertThat(here.find("d" + i).archived()).isTrue();
                assertThat(here.find("d" + i).nextSequence()).isEqualTo(i + i % 7);
            }
        }
    }

    @Test
    void restoresEverythingExceptDeletedDocuments() {
        fill(100);
        archive.put("long", 7, 3, LONG_COUNT);
        archive.put("gone", 8, 0, 3);
        archive.delete("gone");
        Figures figures = restore();
        assertThat(figures)
                .isEqualTo(
                        new Figures(102, 101, 0, 1, 0, figures.values(), figures.valueBytes(), figures.valueBytes()));
        assertThat(reports.restored.stream().mapToLong(Restored::added).sum()).isEqualTo(figures.values());
        assertThat(reports.faults).isEmpty();
        try (TestStore here = open()) {
            assertThat(StoreIdentity.find(here.store)).isEqualTo(TestArchive.STORE);
            assertThat(here.read("long")).isEqualTo(TestArchive.texts(7, 3, LONG_COUNT));
            assertThat(here.find("gone")).isNull();
            here.delete("long");
        }
        try (TestStore here = open()) {
            assertThat(here.documents.deletionPending(DocumentName.of("long"))).isTrue();
        }
        assertThat(restore().deleted()).isEqualTo(2);
        requireFilled(100);
    }

    /**
     * A restore must not run a sweeper, because it would date all values to 1970, and the next server would then trim
     * them.
     */
    @Test
    void runsNoSweeperDuringRestore() throws InterruptedException {
        fill(1);
        Thread[] started = new Thread[100];
        ThreadGroup group = new ThreadGroup("restore");
        Thread restore = new Thread(
                group,
                () -> restore(new RestoreProgress() {
                    @Override
                    protected void restored(Restored document) {
                        group.enumerate(started);
                    }
                }));
        restore.start();
        restore.join();
        assertThat(started)
                .contains(restore)
                .filteredOn(Objects::nonNull)
                .extracting(Thread::getName)
                .doesNotContain("caravan-expiry");
    }

    @Test
    void repeatedRestoreDownloadsNothing() {
        fill(50);
        restore();
        long opened = archive.client.calls(ObjectCall.OPEN);
        Figures again = restore();
        assertThat(again.restored()).isZero();
        assertThat(again.present()).isEqualTo(50);
        assertThat(archive.client.calls(ObjectCall.OPEN)).isEqualTo(opened);
        assertThat(reports.restored).hasSize(50).noneMatch(Restored::changed);
    }

    @Test
    void addsChangesArchivedSinceLastRestore() {
        archive.put("a", 7, 0, 10);
        restore();
        archive.put("a", 7, 0, 20);
        archive.put("b", 8, 0, 1);
        assertThat(restore().values()).isEqualTo(11);
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 20));
        }
    }

    /** Values that were trimmed must not reappear, and must not prevent later restores. */
    @Test
    void removesValuesTrimmedSinceLastRestore() {
        archive.put("deleted", 7, 0, 10);
        archive.put("replaced", 8, 0, 10);
        archive.put("all", 9, 0, 10);
        restore();
        archive.put("deleted", 7, 5, 20);
        archive.put("replaced", 8, 5, 20);
        archive.put("all", 9, 10, 10);
        restore();
        try (TestStore here = open()) {
            assertThat(here.read("deleted")).isEqualTo(TestArchive.texts(7, 5, 20));
            assertThat(here.read("replaced")).isEqualTo(TestArchive.texts(8, 5, 20));
            assertThat(here.read("all")).isEmpty();
        }
        archive.delete("deleted");
        archive.delete("replaced");
        archive.put("replaced", 10, 0, 1);
        assertThat(restore().faults()).isZero();
        try (TestStore here = open()) {
            assertThat(here.find("deleted")).isNull();
            assertThat(here.read("replaced")).isEqualTo(TestArchive.texts(10, 0, 1));
        }
    }

    /** An interrupted restore must resume. The archive fails after a random number of calls until all is restored. */
    @Test
    void resumesInterruptedRestore() {
        fill(60);
        archive.put("long", 7, 0, LONG_COUNT);
        Seeds.forEach(1, seed -> restoreInPieces(new Random(seed)));
        assertThat(restore().present()).isEqualTo(61);
        try (TestStore here = open()) {
            assertThat(here.read("long")).isEqualTo(TestArchive.texts(7, 0, LONG_COUNT));
        }
    }

    private void restoreInPieces(Random random) {
        boolean done = false;
        for (int tries = 0; !done; tries++) {
            assertThat(tries).isLessThan(100);
            long last = archive.client.calls() + 40 + random.nextInt(200);
            archive.client.faults((number, call, key) -> number > last ? ObjectFault.REJECTED : ObjectFault.NONE);
            try {
                done = restore().faults() == 0;
            } catch (ObjectStoreException ended) {
                done = false;
            }
        }
        archive.client.faults(ObjectFaults.NONE);
    }

    @Test
    void damagedDocumentsDoNotAffectOthers() {
        fill(20);
        Generation small = archive.put("small", 7, 0, 5);
        Generation large = archive.put("large", 7, 0, LONG_COUNT);
        Generation missing = archive.put("missing", 7, 0, 5);
        archive.put("unreadable", 7, 0, 5);
        archive.damage(small.key());
        archive.cutOff(large.key(), archive.objects().content(large.key()).length - 1);
        archive.objects().delete(missing.key());
        archive.damage(TestArchive.manifestKey("unreadable"));
        Figures figures = restore();
        assertThat(figures.faults()).isEqualTo(4);
        assertThat(figures.restored()).isEqualTo(20);
        assertThat(reports.faults.stream().map(RestoreFault::object).toList())
                .containsExactlyInAnyOrder(
                        small.key(), large.key(), missing.key(), TestArchive.manifestKey("unreadable"));
        assertThat(reports.faults)
                .allMatch(fault -> fault.instead() == null && !fault.why().isEmpty());
        requireFilled(20);
    }

    @Test
    void restoresOlderGenerationOnlyIfAllowed() {
        archive.put("a", 7, 0, 5);
        archive.put("a", 7, 0, 10);
        Generation middle = archive.put("a", 7, 0, 15);
        Generation latest = archive.put("a", 7, 0, 20);
        archive.damage(latest.key());
        archive.damage(middle.key());
        assertThat(restore().restored()).isZero();
        allowOlder = true;
        Figures figures = restore();
        assertThat(figures.faults()).isEqualTo(1);
        assertThat(figures.values()).isEqualTo(10);
        RestoreFault fault = reports.faults.get(0);
        assertThat(fault.object()).isEqualTo(latest.key());
        assertThat(fault.instead().generation().number()).isEqualTo(2);
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 10));
            ArchiveMark mark = here.find("a").attributes().archived();
            assertThat(mark.generation()).isZero();
            assertThat(mark.incarnation()).isNotEqualTo(7);
        }
    }

    /** A repeated restore must not count documents as missing that an earlier one has restored from older generations. */
    @ParameterizedTest
    @ValueSource(ints = {10, LONG_COUNT})
    void repeatedRestoreKeepsOlderGeneration(int count) {
        archive.put("a", 7, 3, 7);
        Generation older = archive.put("a", 7, 3, count);
        Generation latest = archive.put("a", 7, 5, count + 1);
        byte[] intact = archive.objects().content(latest.key());
        archive.damage(latest.key());
        allowOlder = true;
        restore();
        assertThat(isIncomplete()).isFalse();
        restore();
        assertThat(reports.faults).hasSize(1);
        assertThat(reports.faults.get(0).object()).isEqualTo(latest.key());
        assertThat(reports.faults.get(0).instead().generation()).isEqualTo(older);
        assertThat(reports.faults.get(0).instead().changed()).isFalse();
        assertThat(isIncomplete()).isFalse();
        allowOlder = false;
        restore();
        assertThat(reports.faults.get(0).instead()).isNull();
        assertThat(isIncomplete()).isTrue();
        allowOlder = true;
        archive.damage(older.key());
        restore();
        assertThat(reports.faults.get(0).instead()).isNull();
        archive.objects().put(latest.key(), intact);
        restore();
        assertThat(reports.faults.get(0).why()).contains("another document of that name");
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 3, count));
        }
    }

    /** A store whose document is complete up to an older generation must count as restored from that generation. */
    @Test
    void keepsArchivedDocumentWhoseNextGenerationIsDamaged() {
        Generation older = archive.put("a", 7, 0, 10);
        restore();
        Generation latest = archive.put("a", 7, 0, 20);
        archive.damage(latest.key());
        allowOlder = true;
        restore();
        assertThat(reports.faults.get(0).object()).isEqualTo(latest.key());
        assertThat(reports.faults.get(0).instead().generation()).isEqualTo(older);
        assertThat(isIncomplete()).isFalse();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 10));
        }
    }

    @Test
    void addsValuesOfIntactGenerationBeforeDamagedOne() {
        archive.put("a", 7, 0, 10);
        restore();
        Generation intact = archive.put("a", 7, 0, 15);
        archive.damage(archive.put("a", 7, 0, 20).key());
        allowOlder = true;
        restore();
        assertThat(reports.faults.get(0).instead().generation()).isEqualTo(intact);
        assertThat(isIncomplete()).isFalse();
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 15));
        }
    }

    /** Only an unchanged document counts as restored from an older generation. */
    @Test
    void reportsChangedDocumentThatWasRestoredFromOlderGeneration() {
        archive.put("a", 7, 0, 10);
        archive.damage(archive.put("a", 7, 0, 20).key());
        allowOlder = true;
        restore();
        try (TestStore here = open()) {
            here.trimTo("a", 9);
            here.push("a", "x");
        }
        restore();
        assertThat(reports.faults.get(0).instead()).isNull();
        try (TestStore here = open()) {
            assertThat(here.read("a")).containsExactly("7:9", "x");
        }
    }

    @Test
    void rejectsDirectoryWithAnotherStore() {
        fill(1);
        try (TestStore other = open()) {
            other.push("mine", "a");
        }
        assertThatThrownBy(this::restore)
                .isInstanceOf(StoreDirectoryException.class)
                .hasMessageContaining("contains another store");
        try (TestStore other = open()) {
            assertThat(other.documents.documents()).isEqualTo(1);
            assertThat(StoreIdentity.find(other.store)).isNull();
            StoreIdentity.of(other.store);
        }
        assertThatThrownBy(this::restore).isInstanceOf(StoreDirectoryException.class);
    }

    @Test
    void createsNothingWithoutArchive() {
        archive.objects().keys("").forEach(archive.objects()::delete);
        assertThatThrownBy(this::restore).isInstanceOf(ArchiveException.class);
        assertThat(data()).doesNotExist();
    }

    @Test
    void unavailableArchiveEndsRestore() {
        fill(200);
        archive.client.faults((number, call, key) -> call == ObjectCall.OPEN ? ObjectFault.REJECTED : ObjectFault.NONE);
        assertThatThrownBy(this::restore).isInstanceOf(ObjectStoreException.class);
        assertThat(reports.faults).hasSizeBetween(20, 20 + JOBS);
    }

    @Test
    void failedReportEndsRestore() {
        fill(10);
        RestoreProgress broken = new RestoreProgress() {
            @Override
            protected void restored(Restored document) {
                throw new IllegalStateException("no space to list it");
            }
        };
        assertThatThrownBy(() -> restore(broken)).hasMessage("no space to list it");
    }

    /** Opens the store with this limit on the size of the heap. A later call can raise the limit. */
    private ListStore openSmall(int heapMebibytes) {
        int mebibyte = 1024 * 1024;
        return DurableListStore.open(StoreConfig.builder(data())
                .maxValueBytes(64 * 1024)
                .heapSegmentBytes(mebibyte)
                .maxHeapBytes((long) heapMebibytes * mebibyte)
                .build());
    }

    private Figures restoreTo(ListStore store) {
        Reports progress = new Reports();
        try (TestStore here = new TestStore(store)) {
            new WholeRestore(archive.open(), here.documents, JOBS, false, progress).run();
        }
        assertThat(progress.faults).isEmpty();
        return progress.figures();
    }

    @Test
    void resumesWithMoreSpaceAfterFullStore() {
        for (int i = 0; i < 60; i++) {
            archive.put("d" + i, i, 0, List.of(new byte[40_000]), Attributes.EMPTY);
        }
        archive.put("long", 7, 0, Collections.nCopies(60, new byte[40_000]), Attributes.EMPTY);
        assertThatThrownBy(() -> restoreTo(openSmall(1))).isInstanceOf(OutOfSpaceException.class);
        Figures figures = restoreTo(openSmall(16));
        assertThat(figures.restored() + figures.present()).isEqualTo(61);
        assertThat(figures.present()).isPositive();
    }

    @Test
    void addsMissingValuesToExpiredDocument() {
        Attributes expired = DocumentAttributes.NONE.withExpiresAtMillis(1).portable();
        archive.put("a", 7, 0, TestArchive.values(7, 0, 3), expired);
        restore();
        archive.put("a", 7, 0, TestArchive.values(7, 0, 5), expired);
        assertThat(restore().values()).isEqualTo(2);
        assertThat(reports.faults).isEmpty();
    }

    @Test
    void deletesDocumentsDeletedInArchive() {
        archive.put("a", 7, 0, 3);
        archive.put("b", 8, 0, 3);
        restore();
        archive.delete("a");
        archive.delete("b");
        archive.put("b", 9, 0, 2);
        assertThat(restore().deleted()).isEqualTo(1);
        try (TestStore here = open()) {
            assertThat(here.find("a")).isNull();
            assertThat(here.documents.pendingDeletions()).isEmpty();
            assertThat(here.read("b")).isEqualTo(TestArchive.texts(9, 0, 2));
        }
    }

    /** A document must not reappear although the archive has deleted it and a later document of the same name. */
    @Test
    void deletesDocumentsThatWereReplacedAndDeletedInArchive() {
        archive.put("a", 7, 0, 10);
        restore();
        archive.delete("a");
        archive.put("a", 8, 0, 5);
        archive.delete("a");
        assertThat(restore().deleted()).isOne();
        try (TestStore here = open()) {
            assertThat(here.find("a")).isNull();
        }
    }

    /** A document that was created since the deletion is not the deleted one. */
    @Test
    void keepsLocalDocumentCreatedAfterDeletion() {
        archive.put("a", 7, 0, 10);
        restore();
        archive.delete("a");
        restore();
        try (TestStore here = open()) {
            here.push("a", "x");
            here.attributes("a", here.find("a").attributes().withArchived(ArchiveMark.first(9)));
        }
        assertThat(restore().deleted()).isOne();
        try (TestStore here = open()) {
            assertThat(here.read("a")).containsExactly("x");
        }
    }

    @Test
    void keepsLocallyChangedDocumentDeletedInArchive() {
        archive.put("a", 7, 0, 3);
        restore();
        try (TestStore here = open()) {
            here.push("a", "later");
        }
        archive.delete("a");
        assertThat(restore().faults()).isOne();
        assertThat(reports.faults)
                .singleElement()
                .satisfies(fault -> assertThat(fault.why()).contains("has changes here"));
        try (TestStore here = open()) {
            assertThat(here.read("a")).hasSize(4).endsWith("later");
            assertThat(StoreIdentity.incomplete(here.store)).isTrue();
        }
    }

    @Test
    void reportsListedButMissingManifest() {
        fill(10);
        AtomicBoolean once = new AtomicBoolean(true);
        archive.client.faults((number, call, key) ->
                call == ObjectCall.GET && key.startsWith(ArchiveKeys.MANIFESTS) && once.getAndSet(false)
                        ? ObjectFault.NOT_THERE
                        : ObjectFault.NONE);
        assertThat(restore().faults()).isOne();
        assertThat(isIncomplete()).isTrue();
        assertThat(restore().faults()).isZero();
        requireFilled(10);
    }

    /** A restore must detect an archive that vanishes during the listing of documents, as when a disk is unmounted. */
    @Test
    void vanishedArchiveLeavesStoreIncomplete() {
        fill(10);
        AtomicLong roots = new AtomicLong();
        archive.client.faults((number, call, key) ->
                key.equals(ArchiveKeys.ROOT) && roots.incrementAndGet() > 1 ? ObjectFault.NOT_THERE : ObjectFault.NONE);
        assertThatThrownBy(this::restore).isInstanceOf(ArchiveException.class);
        archive.client.faults(ObjectFaults.NONE);
        assertThat(isIncomplete()).isTrue();
    }

    @Test
    void replacesRestoredAttributes() {
        archive.put("a", 7, 0, 3);
        restore();
        Attributes other =
                DocumentAttributes.NONE.withExpiresAtMillis(Long.MAX_VALUE).portable();
        archive.put("a", 7, 0, TestArchive.values(7, 0, 3), other);
        assertThat(restore().restored()).isEqualTo(1);
        try (TestStore here = open()) {
            assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 3));
            assertThat(here.find("a").attributes().expiresAtMillis()).hasValue(Long.MAX_VALUE);
            assertThat(here.find("a").archived()).isTrue();
        }
    }

    @Test
    void errorEndsRestore() {
        fill(20);
        archive.client.faults((number, call, key) -> {
            if (call == ObjectCall.OPEN) {
                throw new AssertionError("broken");
            }
            return ObjectFault.NONE;
        });
        assertThatThrownBy(this::restore).hasMessageContaining("broken");
    }

    @Test
    void incompleteStoreCannotBeServed() throws IOException {
        fill(60);
        archive.client.faults((number, call, key) -> number > 50 ? ObjectFault.REJECTED : ObjectFault.NONE);
        assertThatThrownBy(this::restore).isInstanceOf(ObjectStoreException.class);
        try (TestStore here = open()) {
            assertThat(StoreIdentity.incomplete(here.store)).isTrue();
            assertThatThrownBy(() -> serve(here.store))
                    .isInstanceOf(StoreDirectoryException.class)
                    .hasMessageContaining("caravan restore")
                    .hasMessageContaining("--archive-hydrate");
        }
        archive.client.faults(ObjectFaults.NONE);
        restore();
        try (TestStore here = open()) {
            assertThat(StoreIdentity.incomplete(here.store)).isFalse();
            assertThat(StoreIdentity.find(here.store)).isEqualTo(TestArchive.STORE);
        }
    }

    private boolean isIncomplete() {
        try (TestStore here = open()) {
            return StoreIdentity.incomplete(here.store);
        }
    }

    @Test
    void faultsLeaveStoreIncomplete() {
        fill(5);
        byte[] snapshot =
                archive.objects().content(archive.put("damaged", 7, 0, 5).key());
        String key = archive.objects().keys("snapshots/damaged/").get(0);
        archive.damage(key);
        assertThat(restore().faults()).isEqualTo(1);
        try (TestStore here = open()) {
            assertThat(StoreIdentity.incomplete(here.store)).isTrue();
            assertThatThrownBy(() -> serve(here.store)).isInstanceOf(StoreDirectoryException.class);
        }
        restore();
        assertThat(isIncomplete()).isTrue();
        archive.objects().put(key, snapshot);
        assertThat(restore().faults()).isZero();
        assertThat(isIncomplete()).isFalse();
    }

    @Test
    void unreadableManifestLeavesStoreIncomplete() {
        fill(5);
        archive.put("unreadable", 7, 0, 5);
        archive.damage(TestArchive.manifestKey("unreadable"));
        assertThat(restore().faults()).isEqualTo(1);
        assertThat(isIncomplete()).isTrue();
    }

    @Test
    void acceptsKnownLossIfAllowed() {
        fill(5);
        archive.put("older", 7, 0, 5);
        archive.damage(archive.put("older", 7, 0, 9).key());
        restore();
        assertThat(isIncomplete()).isTrue();
        allowOlder = true;
        assertThat(restore().faults()).isEqualTo(1);
        assertThat(isIncomplete()).isFalse();
        archive.damage(archive.put("lost", 8, 0, 5).key());
        restore();
        assertThat(isIncomplete()).isTrue();
        allowMissing = true;
        assertThat(restore().faults()).isEqualTo(2);
        assertThat(isIncomplete()).isFalse();
    }

    private static Server serve(ListStore store) throws IOException {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        return Server.start(store, new ServerConfig(anyPort, new RespLimits(1024, 1024), Durability.MEMORY));
    }
}
