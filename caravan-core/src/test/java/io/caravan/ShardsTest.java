package io.caravan;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how a directory with several shards is created, opened again, rejected, and backed up. */
class ShardsTest {
    @TempDir
    Path work;

    private Path data() {
        return work.resolve("data");
    }

    private Shards open(int shards) {
        return open(data(), shards);
    }

    private static Shards open(Path directory, int shards) {
        return Shards.open(SmallStore.config(directory).build(), shards);
    }

    private void make(int shards) {
        try (Shards opened = open(shards)) {
            for (long id = 1; id <= 20; id++) {
                await(opened.store().append(id, bytes(10, (int) id)));
            }
        }
    }

    private void assertRejected(int shards, String... messageParts) {
        assertThatExceptionOfType(StoreDirectoryException.class)
                .isThrownBy(() -> open(shards).close())
                .satisfies(rejection -> assertThat(rejection.getMessage()).contains(messageParts));
    }

    @Test
    void eachShardIsStoreInOwnDirectory() {
        make(3);
        assertThat(Shards.directories(data()))
                .containsExactly(data().resolve("shard-0"), data().resolve("shard-1"), data().resolve("shard-2"))
                .allMatch(shardDirectory -> DurableListStore.verify(shardDirectory, VerifyReport.Progress.NONE)
                        .clean());
        try (Shards again = open(3)) {
            assertThat(again.store().shards()).hasSize(3);
            for (long id = 1; id <= 20; id++) {
                assertThat(again.store().read(id).get(0).value()).isEqualTo(bytes(10, (int) id));
            }
        }
    }

    @Test
    void singleShardIsPlainStore() {
        make(1);
        assertThat(Shards.directories(data())).containsExactly(data());
        assertThat(data().resolve("caravan.shards")).doesNotExist();
        try (DurableListStore store =
                DurableListStore.open(SmallStore.config(data()).build())) {
            assertThat(store.read(20)).hasSize(1);
        }
        try (Shards again = open(1)) {
            assertThat(again.store()).isInstanceOf(DurableListStore.class);
        }
    }

    @Test
    void rejectsDifferentShardCountWithoutChanges() throws IOException {
        make(3);
        List<String> before = names();
        assertRejected(2, "was created with --shards 3", "with 2", "Start with --shards 3");
        assertRejected(4, "was created with --shards 3");
        assertRejected(1, "was created with --shards 3");
        assertThat(names()).isEqualTo(before);
        assertThatIllegalArgumentException().isThrownBy(() -> open(17));
        assertThatIllegalArgumentException().isThrownBy(() -> open(0));
        make(3);
    }

    private List<String> names() throws IOException {
        try (var files = Files.walk(data())) {
            return files.map(Path::toString).sorted().toList();
        }
    }

    @Test
    void rejectsShardsForUnshardedStore() throws IOException {
        make(1);
        List<String> before = names();
        assertRejected(2, "was created with --shards 1", "Start with --shards 1");
        assertThat(names()).isEqualTo(before);
    }

    @Test
    void rejectsOpeningShardsAsSingleStore() {
        make(2);
        assertThatExceptionOfType(StoreDirectoryException.class)
                .isThrownBy(
                        () -> DurableListStore.open(SmallStore.config(data()).build()))
                .withMessageContaining("contains the stores of several shards")
                .withMessageContaining("shard-0");
    }

    @Test
    void rejectsMissingShard() throws IOException {
        make(3);
        Path shard = data().resolve("shard-1");
        Files.move(shard, work.resolve("elsewhere"));
        assertRejected(3, "shard-1 is missing", "put it back");
        assertThat(shard).doesNotExist();
        Files.createDirectory(shard);
        assertRejected(3, "shard-1 is missing or holds no store");
        Files.delete(shard);
        Files.move(work.resolve("elsewhere"), shard);
        make(3);
    }

    @Test
    void resumesInterruptedCreation() throws IOException {
        open(3).close();
        Files.delete(data().resolve("caravan.shards"));
        try (var files = Files.list(data().resolve("shard-2"))) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.writeString(data().resolve("caravan.shards.tmp"), "cut off");
        assertRejected(2, "shard-2 does not belong to a store with 2 shards");
        make(3);
        assertThat(data().resolve("caravan.shards.tmp")).doesNotExist();
        open(3).close();
    }

    @Test
    void rejectsMissingShardsFile() throws IOException {
        make(2);
        Files.delete(data().resolve("caravan.shards"));
        assertRejected(2, "caravan.shards is missing", "put it back");
        assertRejected(3, "caravan.shards is missing");
        assertThat(data().resolve("caravan.shards")).doesNotExist();
    }

    @Test
    void rejectsDamagedShardsFile() throws IOException {
        make(2);
        byte[] file = Files.readAllBytes(data().resolve("caravan.shards"));
        file[24]++;
        Files.write(data().resolve("caravan.shards"), file);
        for (int shards = 1; shards <= 3; shards++) {
            int wanted = shards;
            assertThatExceptionOfType(CorruptStoreException.class)
                    .isThrownBy(() -> open(wanted))
                    .withMessageContaining("caravan.shards");
        }
        assertThatExceptionOfType(CorruptStoreException.class).isThrownBy(() -> Shards.directories(data()));
    }

    @Test
    void rejectsUnknownFile() throws IOException {
        make(2);
        Files.writeString(data().resolve("letter"), "keep me");
        assertRejected(2, "letter does not belong to a store with 2 shards");
    }

    @Test
    void rejectsSecondOpen() {
        try (Shards opened = open(2)) {
            assertThatExceptionOfType(StoreLockedException.class).isThrownBy(() -> open(2));
            opened.close();
            try (Shards next = open(2)) {
                opened.close();
                assertThatExceptionOfType(StoreLockedException.class).isThrownBy(() -> open(2));
            }
        }
    }

    @Test
    void closesAllShardsIfOneCannotBeOpened() throws IOException {
        make(2);
        Path checkpoints = data().resolve("shard-1");
        try (var files = Files.list(checkpoints)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".ckp")).toList()) {
                Files.write(file, new byte[100]);
            }
        }
        assertThatExceptionOfType(CorruptStoreException.class).isThrownBy(() -> open(2));
        DurableListStore.open(SmallStore.config(data().resolve("shard-0")).build())
                .close();
    }

    @Test
    void backupContainsAllShards() throws IOException {
        Path target = work.resolve("deep/backup");
        Path leftover = Files.createDirectories(work.resolve("deep/backup.partial/shard-1.partial"));
        Files.writeString(leftover.resolve("log-0000000000000000.wal"), "cut off");
        Files.writeString(leftover.resolve("caravan.lock"), "");
        try (Shards opened = open(3)) {
            for (long id = 1; id <= 20; id++) {
                await(opened.store().append(id, bytes(10, (int) id)));
            }
            BackupReport report = opened.backup(
                    target, (done, total) -> assertThat(done).isPositive().isLessThanOrEqualTo(total));
            assertThat(report.files()).isEqualTo(9);
            assertThat(target.resolveSibling("backup.partial")).doesNotExist();
            try (Shards copy = open(target, 3)) {
                for (int shard = 0; shard < 3; shard++) {
                    assertThat(StoreContents.of(copy.store().shards().get(shard)))
                            .isEqualTo(StoreContents.of(opened.store().shards().get(shard)));
                }
            }
        }
    }

    @Test
    void rejectsBackupInsideDirectory() {
        try (Shards opened = open(2)) {
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> opened.backup(data().resolve("backup"), BackupReport.Progress.NONE))
                    .withMessageContaining("inside");
        }
        open(2).close();
    }

    @Test
    void failedBackupLeavesNoFiles() throws IOException {
        Path target = work.resolve("backup");
        try (Shards opened = open(2)) {
            assertThatExceptionOfType(StoreClosedException.class)
                    .isThrownBy(() -> opened.backup(target, (done, total) -> {
                        if (Files.exists(work.resolve("backup.partial/shard-0"))) {
                            throw new StoreClosedException("the server is stopping: its store");
                        }
                    }));
            assertThat(target).doesNotExist();
            assertThat(work.resolve("backup.partial")).doesNotExist();
            Path letter = Files.createDirectories(work.resolve("backup.partial/shard-0"))
                    .resolve("letter");
            Files.writeString(letter, "keep me");
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> opened.backup(target, BackupReport.Progress.NONE))
                    .withMessageContaining("is not a leftover");
            assertThat(letter).exists();
        }
    }
}
