package io.caravan.server.archive.restore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.restore.RestoreService.RestoreConfig;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests restores of single documents into a store that has other documents and may already have the restored one. */
class RestoreServiceTest {
    private static final int LONG_COUNT = 30_000;

    private final TestArchive archive = new TestArchive();

    @AutoClose
    private final TestStore here = new TestStore();

    private final Archive opened = archive.open();
    private final RestoreService service = new RestoreService(() -> opened, here.documents, RestoreConfig.NOTHING, 1);

    private Restored restore(String name) {
        return service.restore(DocumentName.of(name), OptionalLong.empty(), null);
    }

    private Restored restore(String name, long generation) {
        return service.restore(DocumentName.of(name), OptionalLong.of(generation), null);
    }

    private Restored restoreAs(String name, OptionalLong generation, String as) {
        return service.restore(DocumentName.of(name), generation, DocumentName.of(as));
    }

    private static void assertRejected(Reason reason, ThrowingCallable action) {
        assertThatThrownBy(action)
                .isInstanceOfSatisfying(
                        ArchiveException.class,
                        assertRejected -> assertThat(assertRejected.reason()).isEqualTo(reason));
    }

    private @Nullable ArchiveMark mark(String name) {
        return here.find(name).attributes().archived();
    }

    @Test
    void restoresMissingDocumentAndContinuesItsSequences() {
        Generation put = archive.put("a", 7, 100, 120);
        Restored restored = restore("a");
        assertThat(restored).isEqualTo(Restored.created(DocumentName.of("a"), put));
        assertThat(restored.added()).isEqualTo(20);
        assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 100, 120));
        DocumentInfo info = here.find("a");
        assertThat(info.firstSequence()).isEqualTo(100);
        assertThat(info.nextSequence()).isEqualTo(120);
        assertThat(info.archived()).isTrue();
        assertThat(here.push("a", "more")).isEqualTo(120);
        assertThat(here.find("a").archived()).isFalse();
    }

    @Test
    void emptyDocumentKeepsItsSequence() {
        archive.put("a", 7, 5, 5);
        assertThat(restore("a").nextSequence()).isEqualTo(5);
        assertThat(here.push("a", "x")).isEqualTo(5);
    }

    @Test
    void restoresLongDocument() {
        archive.put("a", 7, 3, 3 + LONG_COUNT);
        assertThat(restore("a").added()).isEqualTo(LONG_COUNT);
        assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 3, 3 + LONG_COUNT));
        assertThat(here.find("a").archived()).isTrue();
    }

    @Test
    void restoresAttributes() {
        Attributes attributes = Attributes.EMPTY
                .with("content-type", "application/json".getBytes(UTF_8))
                .with("closed", "producer".getBytes(UTF_8))
                .with("fork", new byte[] {1});
        archive.put("a", 7, 0, List.of("1".getBytes(UTF_8)), attributes);
        restore("a");
        DocumentAttributes restored = here.find("a").attributes();
        assertThat(restored.isJson()).isTrue();
        assertThat(restored.closed()).isTrue();
        assertThat(here.find("a").archived()).isTrue();
        assertThatThrownBy(() -> here.push("a", "2")).isInstanceOf(DocumentException.class);
    }

    @Test
    void doesNotRestoreExpiredDocumentByDefault() {
        DocumentAttributes expires = DocumentAttributes.NONE.withExpiresAtMillis(TestArchive.CLOCK.millis() - 1);
        archive.put("a", 7, 0, TestArchive.values(7, 0, 3), expires.portable());
        assertRejected(Reason.DELETED, () -> restore("a"));
        assertThat(here.find("a")).isNull();
        assertThat(restoreAs("a", OptionalLong.empty(), "b").added()).isEqualTo(3);
        assertThat(here.read("b")).isEqualTo(TestArchive.texts(7, 0, 3));
        assertThat(here.push("a", "new")).isZero();
        here.delete("a");
        restore("a", 1);
        assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 3));
    }

    @Test
    void reportsDocumentOrGenerationMissingFromArchive() {
        assertThatThrownBy(() -> restore("a")).hasMessage("document 'a' is not in the archive");
        archive.put("a", 7, 0, 3);
        assertThatThrownBy(() -> restore("a", 2))
                .isInstanceOf(DocumentException.class)
                .hasMessageContaining("no generation 2 in the archive; the archive keeps generation 1 (");
        assertThat(here.documents.documents()).isZero();
    }

    @Test
    void appendsOnlyMissingValues() {
        archive.put("a", 7, 0, 10);
        restore("a");
        DocumentAttributes typed = DocumentAttributes.NONE.withContentType("text/plain");
        archive.put("a", 7, 5, TestArchive.values(7, 5, 25), typed.portable());
        Restored merged = restore("a");
        assertThat(merged.added()).isEqualTo(15);
        assertThat(merged.firstSequence()).isZero();
        assertThat(merged.nextSequence()).isEqualTo(25);
        assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 25));
        assertThat(here.find("a").attributes().contentType()).isEqualTo("text/plain");
        assertThat(mark("a").generation()).isEqualTo(2);
        here.trimTo("a", 5);
        assertThat(here.find("a").archived()).isTrue();
        assertThat(restore("a").changed()).isFalse();
    }

    @Test
    void appendsManyMissingValues() {
        archive.put("a", 7, 0, 10);
        restore("a");
        archive.put("a", 7, 8, LONG_COUNT);
        assertThat(restore("a").added()).isEqualTo(LONG_COUNT - 10);
        assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, LONG_COUNT));
    }

    @Test
    void leavesDivergedDocumentUnchanged() {
        archive.put("a", 7, 0, 10);
        restore("a");
        here.push("a", "mine");
        archive.put("a", 7, 0, 20);
        List<String> before = here.read("a");
        assertRejected(Reason.DIVERGED, () -> restore("a"));
        assertThat(here.read("a")).isEqualTo(before);
    }

    @Test
    void restoresOlderGenerationOnlyUnderAnotherName() {
        archive.put("a", 7, 0, 10);
        archive.put("a", 7, 5, 20);
        restore("a");
        assertRejected(Reason.DIVERGED, () -> restore("a", 1));
        Restored other = restoreAs("a", OptionalLong.of(1), "b");
        assertThat(other.name()).isEqualTo(DocumentName.of("b"));
        assertThat(here.read("b")).isEqualTo(TestArchive.texts(7, 0, 10));
        assertThat(mark("b")).isNull();
        assertThatThrownBy(() -> restoreAs("a", OptionalLong.empty(), "b")).isInstanceOf(DocumentException.class);
    }

    @Test
    void rejectsTargetNameUsedInArchive() {
        archive.put("a", 7, 0, 10);
        archive.put("b", 8, 0, 10);
        assertThatThrownBy(() -> restoreAs("a", OptionalLong.empty(), "b"))
                .isInstanceOf(DocumentException.class)
                .hasMessageContaining("document 'b' is in the archive");
        archive.delete("b");
        assertThat(restoreAs("a", OptionalLong.empty(), "b").added()).isEqualTo(10);
    }

    @Test
    void restoresDeletedDocumentAsNewFromChosenGeneration() {
        archive.put("a", 7, 0, 10);
        archive.delete("a");
        assertRejected(Reason.DELETED, () -> restore("a"));
        assertRejected(Reason.DELETED, () -> restoreAs("a", OptionalLong.empty(), "b"));
        restore("a", 1);
        assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 10));
        assertThat(mark("a").generation()).isZero();
        assertThat(mark("a").incarnation()).isNotEqualTo(7);
        assertThat(here.find("a").archived()).isFalse();
    }

    @Test
    void respectsDeletionNotYetArchived() {
        archive.put("a", 7, 0, 10);
        restore("a");
        here.delete("a");
        assertRejected(Reason.DELETED, () -> restore("a"));
        restore("a", 1);
        assertThat(mark("a").incarnation()).isNotEqualTo(7);
    }

    @Test
    void damagedSnapshotChangesNothing() {
        Generation small = archive.put("small", 7, 0, 10);
        Generation large = archive.put("large", 7, 0, LONG_COUNT);
        archive.damage(small.key());
        byte[] content = archive.objects().content(large.key());
        archive.cutOff(large.key(), content.length - 10);
        assertRejected(Reason.CORRUPT, () -> restore("small"));
        assertThatThrownBy(() -> restore("large"))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("large");
        assertThat(here.documents.documents()).isZero();
    }

    @Test
    void doesNotMergeDamagedSnapshot() {
        archive.put("a", 7, 0, 10);
        restore("a");
        Generation next = archive.put("a", 7, 0, LONG_COUNT);
        byte[] content = archive.objects().content(next.key());
        archive.cutOff(next.key(), content.length - 10);
        assertRejected(Reason.CORRUPT, () -> restore("a"));
        assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 0, 10));
    }

    @Test
    void failedDownloadChangesNothing() {
        archive.put("a", 7, 0, LONG_COUNT);
        archive.client.faults(ObjectFaults.at(ObjectCall.OPEN, 1, ObjectFault.RESPONSE_LOST));
        assertThatThrownBy(() -> restore("a")).isInstanceOf(ObjectStoreException.class);
        assertThat(here.documents.documents()).isZero();
        assertThat(restore("a").added()).isEqualTo(LONG_COUNT);
    }

    /** Runs an action just before the nth opening of an object. */
    private void atOpening(int n, Runnable action) {
        AtomicInteger opened = new AtomicInteger();
        archive.client.faults((number, call, key) -> {
            if (call == ObjectCall.OPEN && opened.incrementAndGet() == n) {
                action.run();
            }
            return ObjectFault.NONE;
        });
    }

    /** A merge must neither overwrite nor duplicate a value appended between its two reads of the snapshot. */
    @Test
    void concurrentAppendIsNotOverwrittenOrDuplicated() {
        archive.put("a", 7, 0, 10);
        restore("a");
        archive.put("a", 7, 0, 20);
        atOpening(2, () -> here.push("a", "mine"));
        assertRejected(Reason.DIVERGED, () -> restore("a"));
        List<String> expected = new ArrayList<>(TestArchive.texts(7, 0, 10));
        expected.add("mine");
        assertThat(here.read("a")).isEqualTo(expected);
    }

    @Test
    void mergesDespiteConcurrentTrim() {
        archive.put("a", 7, 0, 10);
        restore("a");
        archive.put("a", 7, 0, 20);
        atOpening(2, () -> here.trimTo("a", 8));
        assertThat(restore("a").added()).isEqualTo(10);
        assertThat(here.read("a")).isEqualTo(TestArchive.texts(7, 8, 20));
    }

    @Test
    void restoresNameWithAllByteValues() {
        byte[] every = new byte[256];
        for (int i = 0; i < every.length; i++) {
            every[i] = (byte) i;
        }
        DocumentName name = DocumentName.of(every);
        TestArchive.put(
                Claims.claim(archive.objects().client(), TestArchive.STORE, "t", TestArchive.CLOCK),
                name,
                7,
                0,
                TestArchive.values(7, 0, 2),
                Attributes.EMPTY);
        assertThat(service.restore(name, OptionalLong.empty(), null).added()).isEqualTo(2);
        assertThat(here.documents.find(name).nextSequence()).isEqualTo(2);
    }

    /** Each waiting request must be answered, even if the callback of an earlier one throws an exception. */
    @Test
    void stopAnswersWaitingRequests() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        archive.client.faults((number, call, key) -> {
            try {
                latch.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            return ObjectFault.NONE;
        });
        List<CompletableFuture<Optional<Manifest>>> asked = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Optional<Manifest>> answer = new CompletableFuture<>();
            service.manifestApart(DocumentName.of("d" + i), Outcome.of(answer::complete, problem -> {
                answer.completeExceptionally(problem);
                throw new IllegalStateException("made to fail");
            }));
            asked.add(answer);
        }
        service.close();
        assertThat(asked.get(19))
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .withMessageContaining("is stopping");
        latch.countDown();
        for (CompletableFuture<Optional<Manifest>> answer : asked) {
            assertThat(answer.handle((found, problem) -> true).get(10, TimeUnit.SECONDS))
                    .isTrue();
        }
        assertThatThrownBy(() -> service.manifestApart(DocumentName.of("a"), Outcome.of(found -> {}, problem -> {})))
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining("is stopping");
    }

    /** A document must stay deleted if its deletion is archived after a restore has read the manifest. */
    @Test
    void documentDeletedDuringRestoreStaysDeleted() {
        archive.put("a", 7, 0, 3);
        restore("a");
        archive.put("a", 7, 0, 5);
        atOpening(1, () -> {
            here.delete("a");
            archive.delete("a");
            here.documents.pendingDeletions().forEach(here.documents::deletionArchived);
        });
        assertRejected(Reason.DELETED, () -> restore("a"));
        assertThat(here.find("a")).isNull();
    }
}
