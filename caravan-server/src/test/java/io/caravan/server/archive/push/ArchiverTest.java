package io.caravan.server.archive.push;

import static io.caravan.server.archive.push.ArchivedDocuments.NEVER;
import static io.caravan.server.archive.push.ArchivedDocuments.SOON;
import static io.caravan.server.archive.push.ArchivedDocuments.name;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.StoreIdentity;
import io.caravan.testing.Eventually;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** Tests the archiver's schedule, its uploads, and its state after a restart. */
class ArchiverTest {
    @AutoClose
    private final ArchivedDocuments server = new ArchivedDocuments();

    private static Archived get(CompletableFuture<Archived> request) throws Exception {
        return request.get(30, TimeUnit.SECONDS);
    }

    @Test
    void errorsAndInterruptsDoNotEndThreads() {
        AtomicInteger steps = new AtomicInteger();
        Archiver.repeat(
                () -> {
                    if (steps.incrementAndGet() == 1) {
                        throw new NoClassDefFoundError("of a codec");
                    }
                    throw new InterruptedException();
                },
                () -> steps.get() == 3);
        assertThat(steps).hasValue(3);
    }

    @Test
    void archivesExistingAndChangedDocuments() {
        server.push("a", "1", "2");
        server.archive(SOON);
        server.awaitArchived("a");
        assertThat(server.values("a")).containsExactly("1", "2");
        server.push("a", "3");
        server.push("b", "x");
        server.trim("a", 1);
        server.awaitArchived("a", "b");
        assertThat(server.values("a")).containsExactly("2", "3");
        assertThat(server.values("b")).containsExactly("x");
        assertThat(server.latest("a").firstSequence()).isEqualTo(1);
    }

    @Test
    void doesNotUploadUnchangedDocumentsAgain() throws Exception {
        server.push("a", "1");
        Archiver archiver = server.archive(SOON);
        server.awaitArchived("a");
        assertThat(get(archiver.archiveNow(name("a"))).uploaded()).isFalse();
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        assertThat(archiver.status().documents()).isOne();
        assertThat(server.manifest("a").generations()).hasSize(1);
        server.restart();
        Archiver next = server.archive(SOON);
        assertThat(next.finish(Duration.ofSeconds(20))).isTrue();
        assertThat(next.status().documents()).isZero();
        assertThat(server.client.calls(ObjectCall.PUT)).isZero();
    }

    @Test
    @Timeout(60)
    void finishesAlthoughScanFails() {
        server.push("a", "1");
        server.push("b", "1");
        server.damageMark("b");
        Archiver archiver = server.archive(NEVER);
        Logger logger = (Logger) LoggerFactory.getLogger(Archiver.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try {
            assertThat(archiver.finish(Duration.ofHours(1))).isFalse();
        } finally {
            logger.detachAppender(log);
        }
        assertThat(server.archived("a")).isTrue();
        assertThat(log.list)
                .last()
                .asString()
                .contains("archive lacks at least", "the scan of some documents has failed");
    }

    @Test
    void archivesDocumentOnDemand() throws Exception {
        Archiver archiver = server.archive(NEVER);
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        server.push("a", "1");
        Archived archived = get(archiver.archiveNow(name("a")));
        assertThat(archived.uploaded()).isTrue();
        assertThat(archived.mark().generation()).isOne();
        assertThat(server.archived("a")).isTrue();
        server.push("a", "2");
        assertThat(get(archiver.archiveNow(name("a"))).mark().nextSequence()).isEqualTo(2);
        assertThat(server.values("a")).containsExactly("1", "2");
    }

    @Test
    void archiveNowReportsMissingDocument() {
        Archiver archiver = server.archive(NEVER);
        assertThatThrownBy(() -> get(archiver.archiveNow(name("absent"))))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(DocumentException.class)
                .hasMessageContaining("'absent' does not exist");
    }

    @Test
    void archivesPendingChangesAfterRestart() {
        server.archive(NEVER);
        server.push("a", "1");
        server.restart();
        server.archive(NEVER);
        server.awaitArchived("a");
        assertThat(server.values("a")).containsExactly("1");
    }

    @Test
    void archivesDeletionAsTombstone() {
        server.push("a", "1", "2");
        server.archive(SOON);
        server.awaitArchived("a");
        long incarnation = server.latest("a").incarnation();
        server.delete("a");
        Eventually.await("a tombstone", () -> tombstone("a") != null);
        assertThat(tombstone("a").incarnation()).isEqualTo(incarnation);
        assertThat(tombstone("a").nextSequence()).isEqualTo(2);
        assertThat(server.values("a")).containsExactly("1", "2");
        Eventually.await(
                "the store forgets it",
                () -> server.documents.pendingDeletions().isEmpty());
    }

    private Tombstone tombstone(String name) {
        return server.manifest(name).tombstone();
    }

    @Test
    void archivesDeletionThatNoScanHasFound() throws Exception {
        Archiver archiver = server.archive(NEVER);
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        server.push("a", "1");
        get(archiver.archiveNow(name("a")));
        server.delete("a");
        assertThatThrownBy(() -> get(archiver.archiveNow(name("a")))).hasMessageContaining("'a' does not exist");
        assertThat(tombstone("a")).isNotNull();
        assertThat(server.documents.pendingDeletions()).isEmpty();
    }

    @Test
    void archivesDeletionAsTombstoneAfterRestart() {
        server.push("a", "1");
        server.archive(NEVER);
        server.awaitArchived("a");
        server.delete("a");
        server.restart();
        server.archive(NEVER);
        Eventually.await("a tombstone", () -> tombstone("a") != null);
    }

    @Test
    void recreatedDocumentHasNewIncarnation() throws Exception {
        server.push("a", "1", "2");
        Archiver archiver = server.archive(NEVER);
        server.awaitArchived("a");
        long before = server.latest("a").incarnation();
        server.delete("a");
        server.push("a", "new");
        get(archiver.archiveNow(name("a")));
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        assertThat(server.latest("a").incarnation()).isNotEqualTo(before);
        assertThat(server.latest("a").number()).isEqualTo(2);
        assertThat(tombstone("a")).isNull();
        assertThat(server.values("a")).containsExactly("new");
        assertThat(server.documents.pendingDeletions()).isEmpty();
    }

    @Test
    void deletionOfUnarchivedDocumentLeavesNoObjects() {
        // Before the archiver starts, because its first round may archive a new document at any moment.
        server.push("a", "1");
        server.delete("a");
        Archiver archiver = server.archive(NEVER);
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        assertThat(server.objects.keys("")).containsExactly("archive.json");
    }

    @Test
    void finishArchivesAllPendingDocuments() {
        Archiver archiver = server.archive(NEVER);
        for (int i = 0; i < 300; i++) {
            server.push("document-" + i, "value");
        }
        assertThat(archiver.finish(Duration.ofSeconds(30))).isTrue();
        assertThat(server.objects.keys("manifests/")).hasSize(300);
        assertThat(archiver.status().backlog()).isZero();
    }

    @Test
    void supersededOwnerStopsArchiving() {
        Archiver first = server.archive(SOON);
        server.push("a", "1");
        server.awaitArchived("a");
        Archive second = Claims.claim(
                server.objects.client(), StoreIdentity.of(server.store), "another", InstantSource.system());
        Eventually.await("fenced", () -> first.status().state() == ArchiveState.FENCED);
        server.push("a", "2");
        assertThatThrownBy(() -> get(first.archiveNow(name("a")))).hasMessageContaining("another owner");
        assertThat(server.values("a")).containsExactly("1");
        Eventually.await("the backlog is still reported", () -> first.status().backlog() == 1);
        assertThat(second.root().epoch()).isEqualTo(2);
        assertThat(first.status().failures()).containsEntry("fenced", 1L);
    }

    /** A new owner must upload nothing before the handover, because the previous owner could prune the new snapshot. */
    @Test
    void uploadsNothingBeforeHandover() throws Exception {
        server.push("a", "1");
        server.archive(SOON);
        server.awaitArchived("a");
        server.restart();
        server.push("a", "2");
        CompletableFuture<Void> waiting = new CompletableFuture<>();
        CountDownLatch handedOver = new CountDownLatch(1);
        server.leaseClock = new Claims.SkippedTime() {
            @Override
            public void sleep(long nanos) throws InterruptedException {
                waiting.complete(null);
                handedOver.await();
                super.sleep(nanos);
            }
        };
        Archiver second = server.archive(NEVER);
        CompletableFuture<Archived> requested = second.archiveNow(name("a"));
        CompletableFuture.anyOf(waiting, requested).get(30, TimeUnit.SECONDS);
        assertThat(requested).isNotDone();
        assertThat(server.client.calls(ObjectCall.PUT)).isZero();
        assertThat(server.values("a")).containsExactly("1");
        handedOver.countDown();
        get(requested);
        assertThat(server.values("a")).containsExactly("1", "2");
    }

    @Test
    void prunesOldGenerations() throws Exception {
        server.push("a", "1");
        Archiver archiver = server.archivePruning(2);
        assertThat(archiver.finish(Duration.ofSeconds(20)))
                .as("the first round is over, and archives no change of those to come")
                .isTrue();
        for (int value = 2; value <= 5; value++) {
            get(archiver.archiveNow(name("a")));
            server.push("a", String.valueOf(value));
        }
        Eventually.await(
                "two generations and their snapshots",
                () -> server.manifest("a").generations().size() == 2
                        && server.objects.keys("snapshots/").size() == 2);
        assertThat(server.latest("a").number()).isEqualTo(4);
    }

    /** The owner thread must survive an error, because no other thread claims the archive. */
    @Test
    void ownerThreadSurvivesError() {
        AtomicBoolean first = new AtomicBoolean(true);
        server.push("a", "1");
        server.archive(Claims.config(
                "memory:",
                () -> {
                    if (first.getAndSet(false)) {
                        throw new NoClassDefFoundError("of a codec");
                    }
                    return server.client;
                },
                false,
                false,
                false,
                SOON,
                2,
                0,
                false));
        server.awaitArchived("a");
    }

    /** A server that restarts after another server has replaced it must stay fenced. */
    @Test
    void ownerSupersededWhileStoppedStaysFenced() {
        server.push("a", "1");
        server.archive(SOON);
        server.awaitArchived("a");
        server.restart();
        Archive another = Claims.claim(
                server.objects.client(), StoreIdentity.of(server.store), "another", InstantSource.system());
        Archiver back = server.archive(SOON);
        assertThat(back.status().state()).isEqualTo(ArchiveState.FENCED);
        assertThat(back.status().lastError().message()).contains("another #", "--archive-takeover");
        assertThatCode(another::checkOwner).doesNotThrowAnyException();
        server.restart();
        assertThat(server.archive(SOON).status().state()).isEqualTo(ArchiveState.FENCED);
        server.restart();
        Archiver taken = server.takeOver(SOON);
        assertThat(taken.status().state()).isEqualTo(ArchiveState.OWNER);
        assertThat(taken.finish(Duration.ofSeconds(20))).isTrue();
        server.restart();
        assertThat(server.archive(SOON).status().epoch()).isEqualTo(4);
    }

    @Test
    void spreadsUploadsOfSimultaneousChanges() {
        Duration after = Duration.ofSeconds(1);
        Archiver archiver = server.archive(after);
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        long start = System.nanoTime();
        for (int i = 0; i < 200; i++) {
            server.push("document-" + i, "value");
        }
        Eventually.await("all", () -> archiver.status().documents() == 200);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(after.dividedBy(2));
    }

    @Test
    void archivesEmptyAndUnusuallyNamedDocuments() {
        server.push("\u00e9/ !~", "x");
        server.push("emptied", "1", "2");
        server.trim("emptied", 2);
        Archiver archiver = server.archive(NEVER);
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        assertThat(server.values("\u00e9/ !~")).containsExactly("x");
        assertThat(server.values("emptied")).isEmpty();
        assertThat(server.latest("emptied").nextSequence()).isEqualTo(2);
    }
}
