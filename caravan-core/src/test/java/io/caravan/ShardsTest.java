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

/** A directory with several stores: its creation, reopening, rejection, and backup. */
class ShardsTest {
    @TempDir
    Path work;

    private Path data() {
        return work.resolve("data");
    }

    private Shards open(int groups) {
        return open(data(), groups);
    }

    private static Shards open(Path directory, int groups) {
        return Shards.open(SmallStore.config(directory).build(), groups);
    }

    private void make(int groups) {
        try (Shards opened = open(groups)) {
            for (long id = 1; id <= 20; id++) {
                await(opened.store().append(id, bytes(10, (int) id)));
            }
        }
    }

    private void refused(int groups, String... told) {
        assertThatExceptionOfType(StoreDirectoryException.class)
                .isThrownBy(() -> open(groups).close())
                .satisfies(refusal -> assertThat(refusal.getMessage()).contains(told));
    }

    @Test
    void eachGroupIsAStoreInAFolder() {
        make(3);
        assertThat(Shards.folders(data()))
                .containsExactly(data().resolve("group-0"), data().resolve("group-1"), data().resolve("group-2"))
                .allMatch(folder -> DurableListStore.verify(folder, VerifyReport.Progress.NONE)
                        .clean());
        try (Shards again = open(3)) {
            assertThat(again.store().groups()).hasSize(3);
            for (long id = 1; id <= 20; id++) {
                assertThat(again.store().read(id).get(0).value()).isEqualTo(bytes(10, (int) id));
            }
        }
    }

    @Test
    void oneGroupIsAStoreAsItAlwaysWas() {
        make(1);
        assertThat(Shards.folders(data())).containsExactly(data());
        assertThat(data().resolve("caravan.groups")).doesNotExist();
        try (DurableListStore store =
                DurableListStore.open(SmallStore.config(data()).build())) {
            assertThat(store.read(20)).hasSize(1);
        }
        try (Shards again = open(1)) {
            assertThat(again.store()).isInstanceOf(DurableListStore.class);
        }
    }

    @Test
    void anotherNumberIsRefusedAndChangesNothing() throws IOException {
        make(3);
        List<String> before = names();
        refused(2, "was made with --shards 3", "with 2", "Start with --shards 3");
        refused(4, "was made with --shards 3");
        refused(1, "was made with --shards 3");
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
    void aStoreWithoutGroupsIsNotOpenedInGroups() throws IOException {
        make(1);
        List<String> before = names();
        refused(2, "was made with --shards 1", "Start with --shards 1");
        assertThat(names()).isEqualTo(before);
    }

    @Test
    void itIsNotOpenedAsOneStore() {
        make(2);
        assertThatExceptionOfType(StoreDirectoryException.class)
                .isThrownBy(
                        () -> DurableListStore.open(SmallStore.config(data()).build()))
                .withMessageContaining("holds the stores of several groups")
                .withMessageContaining("group-0");
    }

    @Test
    void aGroupThatIsLostIsNotMadeAnew() throws IOException {
        make(3);
        Path group = data().resolve("group-1");
        Files.move(group, work.resolve("elsewhere"));
        refused(3, "group-1 is missing", "put it back");
        assertThat(group).doesNotExist();
        Files.createDirectory(group);
        refused(3, "group-1 is missing or holds no store");
        Files.delete(group);
        Files.move(work.resolve("elsewhere"), group);
        make(3);
    }

    @Test
    void makingItThatWasCutOffGoesOn() throws IOException {
        open(3).close();
        Files.delete(data().resolve("caravan.groups"));
        try (var files = Files.list(data().resolve("group-2"))) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.writeString(data().resolve("caravan.groups.tmp"), "cut off");
        refused(2, "group-2 is not of a store in 2 groups");
        make(3);
        assertThat(data().resolve("caravan.groups.tmp")).doesNotExist();
        open(3).close();
    }

    @Test
    void documentsWithoutTheFileOfTheirGroupsAreNotServed() throws IOException {
        make(2);
        Files.delete(data().resolve("caravan.groups"));
        refused(2, "caravan.groups is missing", "put it back");
        refused(3, "caravan.groups is missing");
        assertThat(data().resolve("caravan.groups")).doesNotExist();
    }

    @Test
    void aDamagedFileOfGroupsIsRefused() throws IOException {
        make(2);
        byte[] file = Files.readAllBytes(data().resolve("caravan.groups"));
        file[24]++;
        Files.write(data().resolve("caravan.groups"), file);
        for (int groups = 1; groups <= 3; groups++) {
            int wanted = groups;
            assertThatExceptionOfType(CorruptStoreException.class)
                    .isThrownBy(() -> open(wanted))
                    .withMessageContaining("caravan.groups");
        }
        assertThatExceptionOfType(CorruptStoreException.class).isThrownBy(() -> Shards.folders(data()));
    }

    @Test
    void whatIsNotOursIsRefused() throws IOException {
        make(2);
        Files.writeString(data().resolve("letter"), "keep me");
        refused(2, "letter is not of a store in 2 groups");
    }

    @Test
    void itIsOpenOnce() {
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
    void aGroupThatCannotBeOpenedLeavesNoneOpen() throws IOException {
        make(2);
        Path checkpoints = data().resolve("group-1");
        try (var files = Files.list(checkpoints)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".ckp")).toList()) {
                Files.write(file, new byte[100]);
            }
        }
        assertThatExceptionOfType(CorruptStoreException.class).isThrownBy(() -> open(2));
        DurableListStore.open(SmallStore.config(data().resolve("group-0")).build())
                .close();
    }

    @Test
    void aBackupHasAllGroups() throws IOException {
        Path target = work.resolve("deep/backup");
        Path leftover = Files.createDirectories(work.resolve("deep/backup.partial/group-1.partial"));
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
                for (int group = 0; group < 3; group++) {
                    assertThat(StoreContents.of(copy.store().groups().get(group)))
                            .isEqualTo(StoreContents.of(opened.store().groups().get(group)));
                }
            }
        }
    }

    @Test
    void aBackupThatFailsLeavesNothing() throws IOException {
        Path target = work.resolve("backup");
        try (Shards opened = open(2)) {
            assertThatExceptionOfType(StoreClosedException.class)
                    .isThrownBy(() -> opened.backup(target, (done, total) -> {
                        if (Files.exists(work.resolve("backup.partial/group-0"))) {
                            throw new StoreClosedException("the server is stopping: its store");
                        }
                    }));
            assertThat(target).doesNotExist();
            assertThat(work.resolve("backup.partial")).doesNotExist();
            Path letter = Files.createDirectories(work.resolve("backup.partial/group-0"))
                    .resolve("letter");
            Files.writeString(letter, "keep me");
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> opened.backup(target, BackupReport.Progress.NONE))
                    .withMessageContaining("is in the way");
            assertThat(letter).exists();
        }
    }
}
