package io.caravan.server.archive.restore;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.restore.RestoreService.RestoreConfig;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.testing.Eventually;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests a server that restores archived documents when clients use them. */
class HydrationTest {
    private static final int CLIENTS = 1_000;
    private static final int MAX_READS = 2;

    private final TestArchive archive = new TestArchive();
    private final TestStore here = new TestStore();
    private final Archive opened = archive.open();
    private final RestoreService service = new RestoreService(
            () -> opened, here.documents, new RestoreConfig(true, Duration.ZERO, 0, Path.of("."), 1), 2 * MAX_READS);
    private final Hydration hydration = service.hydration();

    @AfterEach
    void close() {
        service.close();
        here.close();
    }

    /** Blocks every attempt to open a snapshot until the returned latch is counted down. */
    private CountDownLatch blockSnapshots() {
        CountDownLatch latch = new CountDownLatch(1);
        archive.client.faults((number, call, key) -> {
            if (call == ObjectCall.OPEN) {
                awaitUninterruptibly(latch);
            }
            return ObjectFault.NONE;
        });
        return latch;
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private CompletableFuture<Long> append(String name, String value) {
        CompletableFuture<Long> appended = new CompletableFuture<>();
        here.documents.write(
                DocumentName.of(name), document -> document.append(List.of(value.getBytes(UTF_8))), new Outcome<>() {
                    @Override
                    public void success(Long sequence) {
                        appended.complete(sequence);
                    }

                    @Override
                    public void failure(RuntimeException problem) {
                        appended.completeExceptionally(problem);
                    }
                });
        return appended;
    }

    @Test
    void readRestoresDocument() {
        archive.put("a", 7, 100, 103);
        assertThat(here.read("a")).containsExactly("7:100", "7:101", "7:102");
        assertThat(here.find("a").archived()).isTrue();
        assertThat(hydration.hydrated()).isEqualTo(1);
        assertThat(here.read("nothing")).isEmpty();
        assertThat(here.find("nothing")).isNull();
    }

    @Test
    void concurrentAppendsShareOneFetchAndKeepOrder() {
        archive.put("a", 7, 0, 3);
        CountDownLatch latch = blockSnapshots();
        List<CompletableFuture<Long>> appends =
                IntStream.range(0, CLIENTS).mapToObj(i -> append("a", "v" + i)).toList();
        assertThat(hydration.fetching()).isEqualTo(1);
        latch.countDown();
        for (int i = 0; i < CLIENTS; i++) {
            assertThat(appends.get(i).join()).isEqualTo(3 + i);
        }
        assertThat(archive.client.calls(ObjectCall.OPEN)).isEqualTo(1);
        assertThat(here.read("a")).hasSize(3 + CLIENTS).endsWith("v" + (CLIENTS - 1));
        Eventually.await("no request waits", () -> hydration.fetching() == 0);
    }

    @Test
    void queriesArchiveOnceForMissingDocument() {
        assertThat(here.find("a")).isNull();
        long asked = archive.client.calls(ObjectCall.GET);
        assertThat(here.find("a")).isNull();
        assertThat(here.push("a", "new")).isZero();
        assertThat(archive.client.calls(ObjectCall.GET)).isEqualTo(asked);
    }

    @Test
    void doesNotRestoreDocumentDeletedLocally() {
        archive.put("a", 7, 0, 3);
        assertThat(here.delete("a")).isTrue();
        assertThat(here.documents.pendingDeletions())
                .singleElement()
                .matches(deletion -> deletion.name().equals(DocumentName.of("a")) && deletion.incarnation() == 7);
        assertThat(here.find("a")).isNull();
        assertThat(here.push("a", "another")).isZero();
        here.delete("a");
        archive.delete("a");
        here.documents.pendingDeletions().forEach(here.documents::deletionArchived);
        assertThat(here.find("a")).isNull();
    }

    @Test
    void doesNotRestoreDocumentDeletedInArchive() {
        archive.put("a", 7, 0, 3);
        archive.delete("a");
        assertThat(here.find("a")).isNull();
        assertThat(here.push("a", "another")).isZero();
    }

    @Test
    void expiredDocumentIsNotVisible() {
        DocumentAttributes expired = DocumentAttributes.NONE.withExpiresAtMillis(TestArchive.CLOCK.millis() - 1);
        archive.put("a", 7, 0, TestArchive.values(7, 0, 3), expired.portable());
        assertThat(here.find("a")).isNull();
        assertThat(here.read("a")).isEmpty();
        assertThat(here.push("a", "new")).isZero();
    }

    @Test
    void multiDocumentWriteRestoresItsDocuments() {
        archive.put("a", 7, 0, 3);
        archive.put("b", 8, 0, 4);
        long count = Outcome.<Long>await(outcome -> here.documents.write(
                List.of(DocumentName.of("a"), DocumentName.of("b"), DocumentName.of("c")),
                edits -> {
                    long values = 0;
                    for (String name : List.of("a", "b")) {
                        EditedDocument document = edits.document(DocumentName.of(name));
                        values += document.info().count();
                        document.delete();
                    }
                    return values;
                },
                outcome));
        assertThat(count).isEqualTo(7);
        assertThat(here.documents.pendingDeletions()).hasSize(2);
    }

    /** A document must not count as missing if the archive rejects requests or is gone, as when a disk is unmounted. */
    @ParameterizedTest
    @EnumSource(
            value = ObjectFault.class,
            names = {"REJECTED", "NOT_THERE"})
    void archiveFailureIsNotTreatedAsMissingDocument(ObjectFault fault) {
        archive.put("a", 7, 0, 3);
        archive.client.faults((number, call, key) -> call == ObjectCall.GET ? fault : ObjectFault.NONE);
        assertThatThrownBy(() -> here.find("a")).isInstanceOf(ObjectStoreException.class);
        assertThatThrownBy(() -> here.push("a", "x")).isInstanceOf(ObjectStoreException.class);
        assertThat(here.documents.documents()).isZero();
        archive.client.faults(ObjectFaults.NONE);
        Eventually.await("it is tried again", () -> {
            try {
                return here.find("a") != null;
            } catch (ObjectStoreException resting) {
                return false;
            }
        });
        assertThat(here.read("a")).hasSize(3);
    }

    @Test
    void doesNotQueryFailedArchiveAgainImmediately() {
        archive.client.faults((number, call, key) -> ObjectFault.REJECTED);
        assertThatThrownBy(() -> here.find("a")).isInstanceOf(ObjectStoreException.class);
        long asked = archive.client.calls();
        assertThatThrownBy(() -> here.find("b")).isInstanceOf(ObjectStoreException.class);
        assertThat(archive.client.calls()).isEqualTo(asked);
    }

    @Test
    void damagedSnapshotIsError() {
        Generation put = archive.put("a", 7, 0, 3);
        archive.damage(put.key());
        assertThatThrownBy(() -> here.find("a")).isInstanceOf(ArchiveException.class);
        assertThatThrownBy(() -> here.push("a", "x")).isInstanceOf(ArchiveException.class);
        assertThat(archive.client.calls(ObjectCall.OPEN)).as("read once").isEqualTo(1);
        assertThat(hydration.failures()).isEqualTo(1);
        assertThat(here.documents.documents()).isZero();
    }

    @Test
    void concurrentRestoresAndAppendsLoseNothing() {
        archive.put("a", 7, 0, 3);
        List<CompletableFuture<?>> all = Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < 8; i++) {
            all.add(CompletableFuture.runAsync(
                    () -> service.restore(DocumentName.of("a"), OptionalLong.empty(), null)));
            all.add(append("a", "x"));
        }
        all.forEach(one -> {
            try {
                one.join();
            } catch (CompletionException rejected) {
                assertThat(rejected.getCause()).isInstanceOf(ArchiveException.class);
            }
        });
        assertThat(here.read("a")).hasSize(3 + 8).startsWith("7:0", "7:1", "7:2");
    }

    @Test
    void stopCompletesWaitingRequests() {
        for (int i = 0; i < 100; i++) {
            archive.put("d" + i, i, 0, 1);
        }
        CountDownLatch latch = blockSnapshots();
        List<CompletableFuture<Long>> asked =
                IntStream.range(0, 100).mapToObj(i -> append("d" + i, "x")).toList();
        hydration.close();
        latch.countDown();
        Eventually.await("all are completed", () -> asked.stream().allMatch(CompletableFuture::isDone));
        assertThatThrownBy(() -> here.find("other"))
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining("is stopping");
    }

    @Test
    void joinsFetchInProgressWhenTooManyDocumentsAreFetched() {
        CountDownLatch latch = new CountDownLatch(1);
        archive.client.faults((number, call, key) -> {
            awaitUninterruptibly(latch);
            return ObjectFault.NONE;
        });
        CompletableFuture<?> first = fetch("d0");
        for (int i = 1; i < Hydration.MAX_FETCHES; i++) {
            fetch("d" + i);
        }
        assertThat(fetch("another")).isCompletedExceptionally();
        CompletableFuture<?> second = fetch("d0");
        assertThat(second).isNotDone();
        latch.countDown();
        first.join();
        second.join();
    }

    private CompletableFuture<DocumentName> fetch(String name) {
        CompletableFuture<DocumentName> known = new CompletableFuture<>();
        hydration.fetch(DocumentName.of(name), Outcome.of(known::complete, known::completeExceptionally));
        return known;
    }

    @Test
    void limitsNumberOfWaitingReads() {
        archive.put("a", 7, 0, 3);
        archive.put("b", 8, 0, 3);
        archive.put("c", 9, 0, 3);
        here.push("here", "x");
        CountDownLatch latch = blockSnapshots();
        List<CompletableFuture<?>> waiting = List.of(
                CompletableFuture.runAsync(() -> here.read("a")), CompletableFuture.runAsync(() -> here.read("b")));
        Eventually.await("both wait", () -> hydration.fetching() == MAX_READS);
        assertThatThrownBy(() -> here.read("c"))
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining("try again");
        assertThat(here.read("here")).containsExactly("x");
        latch.countDown();
        waiting.forEach(CompletableFuture::join);
        assertThat(here.read("c")).hasSize(3);
    }
}
