package io.caravan.server.archive.restore;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.restore.Drills.DrillReport;
import io.caravan.server.archive.restore.RestoreService.RestoreConfig;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests that restore drills report the documents that they cannot restore, and leave no files behind. */
@Execution(ExecutionMode.CONCURRENT)
class DrillsTest {
    private static final int MAX_VALUE_BYTES = 1024 * 1024;

    @TempDir
    private Path directory;

    private final TestArchive archive = new TestArchive();

    @AutoClose
    private final TestStore here = new TestStore();

    private final Archive opened = archive.open();

    private Drills drills(int sample) {
        RestoreConfig config =
                new RestoreConfig(false, Duration.ofHours(1), sample, directory.resolve("data"), MAX_VALUE_BYTES);
        return new Drills(() -> opened, here.documents, config, TestArchive.CLOCK);
    }

    private DrillReport run(int sample) {
        try (Drills drills = drills(sample)) {
            DrillReport report = drills.run();
            assertThat(drills.last()).isEqualTo(report);
            assertThat(directory).isEmptyDirectory();
            return report;
        }
    }

    private void restoreHere(String name) {
        new RestoreService(() -> opened, here.documents, RestoreConfig.NOTHING, 1)
                .restore(DocumentName.of(name), OptionalLong.empty(), null);
    }

    @Test
    void reportsNoFailureIfAllIsRestorable() {
        for (int i = 0; i < 30; i++) {
            archive.put("d" + i, i, 0, 10);
        }
        archive.put("gone", 7, 0, 3);
        archive.delete("gone");
        restoreHere("d1");
        here.push("d1", "more");
        here.trimTo("d1", 5);
        DrillReport report = run(100);
        assertThat(report.documents()).isEqualTo(30);
        assertThat(report.values()).isEqualTo(300);
        assertThat(report.failures()).isEmpty();
        assertThat(report.finishedMillis()).isEqualTo(TestArchive.CLOCK.millis());
    }

    @Test
    void restoresRequestedSampleSize() {
        for (int i = 0; i < 30; i++) {
            archive.put("d" + i, i, 0, 1);
        }
        for (int sample = 1; sample < 10; sample++) {
            assertThat(run(sample).documents()).isEqualTo(sample);
        }
    }

    @Test
    void expiredDocumentDoesNotFailDrill() {
        DocumentAttributes expired = DocumentAttributes.NONE.withExpiresAtMillis(1);
        archive.put("a", 7, 0, TestArchive.values(7, 0, 3), expired.portable());
        assertThat(run(10).failures()).isEmpty();
    }

    @Test
    void reportsDamagedSnapshot() {
        archive.put("good", 7, 0, 3);
        Generation bad = archive.put("bad", 8, 0, 3);
        archive.damage(bad.key());
        DrillReport report = run(10);
        assertThat(report.documents()).isEqualTo(2);
        assertThat(report.failures()).singleElement().asString().contains(bad.key());
    }

    /** A drill must not report a failure for a generation that the server prunes between the drill's two reads. */
    @Test
    void generationPrunedDuringDrillIsNoFailure() {
        Generation pruned = archive.put("a", 7, 0, 3);
        AtomicBoolean first = new AtomicBoolean(true);
        archive.client.faults((number, call, key) -> {
            if (call == ObjectCall.OPEN && first.getAndSet(false)) {
                archive.put("a", 7, 0, 4);
                archive.prune();
                assertThat(archive.objects().content(pruned.key())).isNull();
            }
            return ObjectFault.NONE;
        });
        assertThat(run(10).failures()).isEmpty();
    }

    @Test
    void reportsMismatchWithLiveDocument() {
        here.push("a", "mine 1", "mine 2");
        here.attributes("a", DocumentAttributes.NONE.withArchived(ArchiveMark.first(7)));
        archive.put("a", 7, 1, 3);
        assertThat(run(10).failures())
                .singleElement()
                .asString()
                .contains("has other values than the live document between the sequences 1 and 2");
    }

    @Test
    void removesLeftoversOfPreviousProcess() throws IOException {
        Files.createDirectories(directory.resolve(".data.drill/left"));
        assertThat(run(10).failures()).isEmpty();
    }

    @Test
    void closeInterruptsRunningDrill() throws InterruptedException {
        archive.put("a", 7, 0, 3);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        archive.client.faults((number, call, key) -> {
            if (call == ObjectCall.OPEN) {
                begun.countDown();
                try {
                    never.await();
                } catch (InterruptedException ended) {
                    Thread.currentThread().interrupt();
                    return ObjectFault.REJECTED;
                }
            }
            return ObjectFault.NONE;
        });
        Drills drills = drills(10);
        drills.start(Duration.ofMillis(1));
        begun.await();
        drills.close();
        assertThat(drills.failures()).isZero();
        assertThat(drills.last()).isNull();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void repeatsDrillsAfterErrors() {
        archive.client.faults((number, call, key) -> {
            throw new NoClassDefFoundError("of a codec");
        });
        try (Drills drills = drills(10)) {
            drills.start(Duration.ofMillis(1));
            Eventually.await("two have failed", () -> drills.failures() >= 2);
        }
    }

    @Test
    void repeatsDrillsAfterFailures() {
        archive.put("a", 7, 0, 3);
        archive.client.faults((number, call, key) -> call == ObjectCall.LIST ? ObjectFault.REJECTED : ObjectFault.NONE);
        try (Drills drills = drills(10)) {
            drills.start(Duration.ofMillis(1));
            Eventually.await("two have failed", () -> drills.failures() >= 2);
        }
    }

    @Test
    void reportsDocumentWhoseManifestIsAnOlderCopy() {
        archive.put("a", 7, 0, 2);
        byte[] older = archive.objects().content(TestArchive.manifestKey("a"));
        archive.put("a", 7, 0, 3);
        restoreHere("a");
        archive.objects().put(TestArchive.manifestKey("a"), older);
        assertThat(run(10).failures())
                .singleElement()
                .asString()
                .contains("document 'a' was archived, and the archive does not have it");
    }

    @Test
    void reportsLiveDocumentThatIsDeletedInArchive() {
        archive.put("a", 7, 0, 3);
        restoreHere("a");
        archive.delete("a");
        assertThat(run(10).failures())
                .singleElement()
                .asString()
                .contains("document 'a' was archived, and the archive does not have it");
    }

    @Test
    void reportsDocumentMissingFromArchive() {
        archive.put("a", 7, 0, 3);
        restoreHere("a");
        archive.objects().delete(TestArchive.manifestKey("a"));
        assertThat(run(10).failures())
                .singleElement()
                .asString()
                .contains("document 'a' was archived, and the archive does not have it");
    }
}
