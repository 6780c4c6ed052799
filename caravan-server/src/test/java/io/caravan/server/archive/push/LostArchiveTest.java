package io.caravan.server.archive.push;

import static io.caravan.server.archive.push.ArchivedDocuments.NEVER;
import static io.caravan.server.archive.push.ArchivedDocuments.SOON;
import static io.caravan.server.archive.push.ArchivedDocuments.name;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListStore;
import io.caravan.StoreConfig;
import io.caravan.engine.Engine;
import io.caravan.server.app.SmallFiles;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Claims;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.archive.restore.RestoreService.RestoreConfig;
import io.caravan.server.document.StoreIdentity;
import io.caravan.server.document.space.DocumentDurability;
import io.caravan.testing.CrashStorage;
import io.caravan.testing.Eventually;
import io.caravan.testing.Seeds;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests an archiver whose archive is lost, older than the store, newer than the store, or of another store. */
class LostArchiveTest {
    @AutoClose
    private final ArchivedDocuments server = new ArchivedDocuments();

    private static Archived get(CompletableFuture<Archived> request) throws Exception {
        return request.get(30, TimeUnit.SECONDS);
    }

    @Test
    void takeoverRebuildsLostArchive() {
        server.push("a", "1");
        server.push("b", "1");
        Archiver first = server.archive(NEVER);
        assertThat(first.finish(Duration.ofSeconds(20))).isTrue();
        server.loseArchive();
        server.restart();
        Archiver second = server.takeOver(NEVER);
        assertThat(second.finish(Duration.ofSeconds(20))).isTrue();
        assertThat(server.values("a")).containsExactly("1");
        assertThat(server.latest("b").number()).isEqualTo(2);
        server.restart();
        Archiver third = server.archive(NEVER);
        assertThat(third.finish(Duration.ofSeconds(20))).isTrue();
        assertThat(server.client.calls(ObjectCall.PUT)).isZero();
    }

    @Test
    void rebuildsArchiveLostAtRuntimeOnlyOnTakeover() {
        server.push("a", "1");
        Archiver archiver = server.archive(SOON);
        server.awaitArchived("a");
        server.objects.keys("").forEach(server.objects::delete);
        awaitRejectionToBegin(archiver);
        server.restart();
        Archiver next = server.archive(SOON);
        awaitRejectionToBegin(next);
        assertThat(server.objects.keys("")).isEmpty();
        server.restart();
        archiver = server.takeOver(SOON);
        Eventually.await(
                "it is there again",
                () -> server.objects.content("archive.json") != null && server.manifest("a") != null);
        assertThat(server.values("a")).containsExactly("1");
        assertThat(archiver.status().state()).isEqualTo(ArchiveState.OWNER);
    }

    private static void awaitRejectionToBegin(Archiver archiver) {
        Eventually.await("it is reported", () -> {
            ArchiveStatus status = archiver.status();
            return status.state() == ArchiveState.CLAIMING
                    && status.lastError() != null
                    && status.lastError().message().contains("--archive-takeover");
        });
    }

    @Test
    void resumesWhenLostArchiveReappears() {
        server.push("a", "1");
        Archiver archiver = server.archive(SOON);
        server.awaitArchived("a");
        byte[] root = server.objects.content("archive.json");
        server.objects.keys("").forEach(server.objects::delete);
        awaitRejectionToBegin(archiver);
        server.objects.put("archive.json", root);
        server.push("a", "2");
        server.awaitArchived("a");
        assertThat(archiver.status().epoch()).isEqualTo(2);
    }

    /** An upload that has outlived the loss of the archive must not mistake this server's next claim for another owner. */
    @Test
    void resumesWhenLostArchiveReappearsDuringUpload() throws Exception {
        CountDownLatch uploading = new CountDownLatch(1);
        CompletableFuture<Void> slow = new CompletableFuture<>();
        ObjectStore place = new ForwardingObjectStore(server.client) {
            @Override
            public void put(String key, Content content) {
                if (key.startsWith(ArchiveKeys.snapshots(name("slow")))) {
                    uploading.countDown();
                    slow.join();
                }
                super.put(key, content);
            }
        };
        server.push("slow", "1");
        Archiver archiver = server.archive(place, SOON);
        CompletableFuture<Archived> requested = archiver.archiveNow(name("slow"));
        assertThat(uploading.await(30, TimeUnit.SECONDS)).isTrue();
        byte[] root = server.objects.content("archive.json");
        server.objects.keys("").forEach(server.objects::delete);
        awaitRejectionToBegin(archiver);
        server.objects.put("archive.json", root);
        server.push("other", "1");
        server.awaitArchived("other");
        slow.complete(null);
        server.awaitArchived("slow");
        assertThat(archiver.status().state()).isEqualTo(ArchiveState.OWNER);
        assertThat(server.values("slow")).containsExactly("1");
        assertThat(requested).isDone();
    }

    /** Archives two documents, and restarts the server so that it trusts its archive marks. */
    private static Archiver archiveWithTrustedMarks(ArchivedDocuments server) {
        server.push("deleted", "1");
        server.push("trimmed", "1", "2");
        assertThat(server.archive(SOON).finish(Duration.ofSeconds(20))).isTrue();
        server.restart();
        Archiver archiver = server.archive(SOON);
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        return archiver;
    }

    private static void undoneLater(ArchivedDocuments server, Archiver archiver) {
        server.delete("deleted");
        server.trim("trimmed", 1);
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        assertThat(server.manifest("deleted").tombstone()).isNotNull();
        assertThat(server.latest("trimmed").firstSequence()).isOne();
    }

    private static void awaitUndone(ArchivedDocuments server) {
        Eventually.await("the archive has the restored state", () -> {
            assertThat(server.info("trimmed").firstSequence()).isZero();
            return server.manifest("deleted").tombstone() == null
                    && server.latest("trimmed").firstSequence() == 0;
        });
    }

    @Test
    void archivesStateOfRestoredBackup(@TempDir Path directory) {
        MemoryObjects archive;
        Path backup = directory.resolve("backup");
        DurableListStore original = SmallFiles.open(directory.resolve("data"));
        try (ArchivedDocuments lost = new ArchivedDocuments(original)) {
            Archiver archiver = archiveWithTrustedMarks(lost);
            original.backup(backup, (done, total) -> {});
            undoneLater(lost, archiver);
            archive = lost.objects;
        }
        try (ArchivedDocuments restored = new ArchivedDocuments(SmallFiles.open(backup))) {
            restored.useArchive(archive);
            assertThat(restored.archive(SOON).status().state()).isEqualTo(ArchiveState.OWNER);
            awaitUndone(restored);
        }
    }

    @Test
    void archivesUndoneDeletionAfterPowerLoss() {
        Seeds.forEach(5, seed -> {
            CrashStorage disk = new CrashStorage(seed);
            CrashStorage left;
            MemoryObjects archive;
            try (ArchivedDocuments lost = new ArchivedDocuments(unsynced(disk), DocumentDurability.PROCESS)) {
                Archiver archiver = archiveWithTrustedMarks(lost);
                lost.store.checkpoint();
                undoneLater(lost, archiver);
                left = disk.powerCut(new SplittableRandom(seed));
                archive = lost.objects;
            }
            try (ArchivedDocuments back = new ArchivedDocuments(unsynced(left), DocumentDurability.PROCESS)) {
                back.useArchive(archive);
                assertThat(back.archive(SOON).status().state()).isEqualTo(ArchiveState.OWNER);
                if (back.info("trimmed").firstSequence() == 0 && back.info("deleted") != null) {
                    awaitUndone(back);
                }
            }
        });
    }

    /** The store's identity and its claim to the archive must survive a power loss. */
    @Test
    void remainsOwnerAfterPowerLoss() {
        Seeds.forEach(5, seed -> {
            CrashStorage disk = new CrashStorage(seed);
            CrashStorage left;
            MemoryObjects archive;
            try (ArchivedDocuments lost = new ArchivedDocuments(unsynced(disk), DocumentDurability.PROCESS)) {
                assertThat(lost.archive(NEVER).status().state()).isEqualTo(ArchiveState.OWNER);
                left = disk.powerCut(new SplittableRandom(seed));
                archive = lost.objects;
            }
            try (ArchivedDocuments back = new ArchivedDocuments(unsynced(left), DocumentDurability.PROCESS)) {
                back.useArchive(archive);
                assertThat(back.archive(NEVER).status().state()).isEqualTo(ArchiveState.OWNER);
            }
        });
    }

    /** Opens a store whose writes survive a kill of the process but not a power loss. */
    private static ListStore unsynced(CrashStorage disk) throws IOException {
        StoreConfig config = StoreConfig.builder(Path.of("disk"))
                .durability(Durability.PROCESS)
                .maxValueBytes(4 << 10)
                .logBufferBytes(16 << 10)
                .logSegmentBytes(64 << 10)
                .heapSegmentBytes(64 << 10)
                .build();
        return Engine.open(config, disk, System::nanoTime);
    }

    private static MemoryObjects copy(MemoryObjects archive) {
        MemoryObjects copy = new MemoryObjects(InstantSource.system());
        archive.keys("").forEach(key -> copy.put(key, archive.content(key)));
        return copy;
    }

    private static void replace(MemoryObjects archive, MemoryObjects older) {
        older.keys("manifests/").forEach(key -> archive.put(key, older.content(key)));
        older.keys("snapshots/").forEach(key -> archive.put(key, older.content(key)));
        archive.put("archive.json", older.content("archive.json"));
    }

    @Test
    void updatesOlderCopyOfLostArchive() {
        Archiver archiver = archiveWithTrustedMarks(server);
        MemoryObjects older = copy(server.objects);
        server.push("trimmed", "3");
        server.awaitArchived("trimmed");
        server.objects.keys("").forEach(server.objects::delete);
        awaitRejectionToBegin(archiver);
        replace(server.objects, older);
        Eventually.await("updated", () -> server.values("trimmed").size() == 3);
    }

    @Test
    void updatesOlderCopyOfArchiveThatWasMissingAtStart() {
        Archiver archiver = archiveWithTrustedMarks(server);
        MemoryObjects older = copy(server.objects);
        server.push("trimmed", "3");
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        server.restart();
        server.objects.keys("").forEach(server.objects::delete);
        awaitRejectionToBegin(server.archive(SOON));
        server.restart();
        replace(server.objects, older);
        server.archive(SOON);
        Eventually.await("updated", () -> server.values("trimmed").size() == 3);
    }

    @Test
    void requestUpdatesOlderCopyOfManifest() throws Exception {
        Archiver archiver = archiveWithTrustedMarks(server);
        MemoryObjects older = copy(server.objects);
        server.push("trimmed", "3");
        server.awaitArchived("trimmed");
        replace(server.objects, older);
        assertThat(get(archiver.archiveNow(name("trimmed"))).uploaded()).isTrue();
        assertThat(server.values("trimmed")).containsExactly("1", "2", "3");
        assertThat(get(archiver.archiveNow(name("trimmed"))).uploaded()).isFalse();
    }

    @Test
    void verifiesCopiedArchiveWithoutUploadingAgain() {
        server.push("a", "1");
        Archiver first = server.archive(NEVER);
        assertThat(first.finish(Duration.ofSeconds(20))).isTrue();
        server.restart();
        Archiver copy = server.archive(
                Claims.config("memory:copy", () -> server.client, true, false, false, NEVER, 2, 0, false));
        assertThat(copy.finish(Duration.ofSeconds(20))).isTrue();
        assertThat(server.client.calls(ObjectCall.PUT)).isZero();
        assertThat(server.client.calls(ObjectCall.GET)).isGreaterThan(2);
    }

    @Test
    void rejectsArchiveOfAnotherStoreAtStart() {
        Claims.claim(server.objects.client(), UUID.randomUUID(), "somebody", InstantSource.system());
        assertThatThrownBy(() -> server.archive(SOON))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("belongs to the store");
    }

    private ArchiveConfig adopting() {
        return Claims.config("memory:", () -> server.client, true, true, false, NEVER, 2, 0, false);
    }

    @Test
    void emptyStoreAdoptsArchiveAndItsIdentity() {
        UUID lost = UUID.randomUUID();
        Claims.claim(server.objects.client(), lost, "somebody", InstantSource.system());
        assertThat(server.archive(adopting()).status().state()).isEqualTo(ArchiveState.OWNER);
        assertThat(StoreIdentity.of(server.store)).isEqualTo(lost);
    }

    @Test
    void nonEmptyStoreDoesNotAdoptArchive() {
        server.push("a", "1");
        Claims.claim(server.objects.client(), UUID.randomUUID(), "somebody", InstantSource.system());
        assertThatThrownBy(() -> server.archive(adopting()))
                .isInstanceOf(ArchiveException.class)
                .hasMessageContaining("belongs to the store");
    }

    @Test
    void storeWithOnlySpacesAdoptsArchive() {
        UUID lost = UUID.randomUUID();
        Claims.claim(server.objects.client(), lost, "somebody", InstantSource.system());
        server.archiveAfter("a/", 60);
        assertThat(server.archive(adopting()).status().state()).isEqualTo(ArchiveState.OWNER);
        assertThat(StoreIdentity.of(server.store)).isEqualTo(lost);
    }

    /** A store that the archive rejects must count as incomplete, or exports would lack archived documents. */
    @Test
    void storeIsIncompleteWhileArchiveRejectsIt() {
        server.push("a", "1");
        Claims.claim(server.objects.client(), UUID.randomUUID(), "somebody", InstantSource.system());
        Archiver archiver =
                server.archive(Claims.config("memory:", () -> server.client, false, true, false, NEVER, 2, 0, false));
        RestoreConfig hydrating = new RestoreConfig(true, Duration.ZERO, 0, Path.of("."), 1);
        try (RestoreService restores = new RestoreService(archiver::readable, server.documents, hydrating, 1)) {
            assertThat(restores.hydration()).isNotNull();
            Eventually.await("rejected", () -> archiver.status().state() == ArchiveState.REJECTED);
            server.documents.scan(0, 1);
            assertThat(server.documents.incomplete()).isTrue();
        }
    }

    @Test
    void newStoreCreatesArchiveIfMissing() {
        assertThat(server.archive(adopting()).status().state()).isEqualTo(ArchiveState.OWNER);
        assertThat(Archive.open(server.objects.client()).root().store()).isEqualTo(StoreIdentity.of(server.store));
    }
}
