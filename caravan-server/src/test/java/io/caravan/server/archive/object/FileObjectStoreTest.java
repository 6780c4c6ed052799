package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract for a directory, and the behavior that only a directory has. */
class FileObjectStoreTest extends ObjectStoreContract {
    private static final int MAX_BYTES = 10_000_000;

    @TempDir
    Path directory;

    private Path folder() {
        return directory.resolve("parent/archive");
    }

    @Override
    ObjectStore openPlace() {
        return FileObjectStore.open(folder());
    }

    @Override
    void fill(List<String> keys) throws IOException {
        for (String key : keys) {
            Path file = folder().resolve(key);
            Files.createDirectories(file.getParent());
            Files.write(file, new byte[1]);
        }
    }

    @Override
    void assertNothingHalfDone() throws IOException {
        Path staging = folder().resolve("~tmp");
        if (Files.exists(staging)) {
            assertThat(files(staging)).isEmpty();
        }
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    @Test
    void readingCreatesNothing() {
        try (ObjectStore store = openPlace()) {
            assertThat(store.get("a", 10)).isNull();
            store.list("", "", listed -> true);
            store.delete("a");
            assertThatThrownBy(() -> store.deleteIf("a", "tag")).isInstanceOf(ObjectStoreException.class);
        }
        assertThat(folder().getParent()).doesNotExist();
    }

    @Test
    void whatIsClosedWritesNoMore() {
        ObjectStore store = openPlace();
        store.put("a", out -> out.write(1));
        store.close();
        assertThatThrownBy(() -> store.put("b", out -> out.write(1)))
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining("is closed");
        assertThatThrownBy(() -> store.putIf("b", new byte[1], null)).isInstanceOf(ObjectStoreException.class);
        assertThat(folder().resolve("b")).doesNotExist();
    }

    @Test
    void aFileIsNoFolder() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> FileObjectStore.open(file))
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining("is a file");
    }

    @Test
    void directoriesComeAndGoWhileOthersPutIntoThem() throws Exception {
        try (ObjectStore store = openPlace()) {
            together(writer -> () -> {
                String key = "folder/deeper/" + writer;
                for (int time = 0; time < 20; time++) {
                    store.put(key, out -> out.write(1));
                    assertThat(store.get(key, MAX_BYTES)).isNotNull();
                    store.delete(key);
                }
                return true;
            });
            assertThat(folder().resolve("folder")).doesNotExist();
        }
    }

    @Test
    void conditionsHoldAmongProcesses() throws Exception {
        int each = 200;
        try (ObjectStore store = openPlace()) {
            store.putIf("count", "0".getBytes(StandardCharsets.UTF_8), null);
            try (FolderProcess one = FolderProcess.count(folder(), "count", each);
                    FolderProcess another = FolderProcess.count(folder(), "count", each)) {
                assertThat(one.succeeds()).isTrue();
                assertThat(another.succeeds()).isTrue();
            }
            assertThat(new String(store.get("count", 10).content(), StandardCharsets.UTF_8))
                    .isEqualTo(Integer.toString(2 * each));
        }
    }

    @Test
    void whatAnotherProcessWritesIsLeftAlone() throws Exception {
        try (FolderProcess other = FolderProcess.putHalf(folder(), "a");
                ObjectStore store = openPlace()) {
            assertThat(files(folder().resolve("~tmp"))).hasSize(1);
            store.put("b", out -> out.write(1));
            assertThat(files(folder().resolve("~tmp"))).hasSize(1);
            assertThat(store.get("a", MAX_BYTES)).isNull();
            other.goOn();
            assertThat(other.succeeds()).isTrue();
            assertThat(store.get("a", MAX_BYTES)).isNotNull();
        }
    }

    @Test
    void whatAKilledProcessLeftIsRemoved() throws Exception {
        try (FolderProcess other = FolderProcess.putHalf(folder(), "a")) {
            other.kill();
        }
        assertThat(files(folder().resolve("~tmp"))).hasSize(1);
        try (ObjectStore store = openPlace()) {
            assertThat(store.get("a", MAX_BYTES)).isNull();
            assertThat(files(folder().resolve("~tmp"))).hasSize(1);
            store.put("b", out -> out.write(1));
            assertThat(files(folder().resolve("~tmp"))).isEmpty();
        }
    }

    @Test
    void whatAnotherStoreOfThisProcessWritesIsLeftAlone() {
        try (ObjectStore one = openPlace();
                ObjectStore another = openPlace()) {
            one.put("a", out -> {
                out.write(1);
                another.put("b", inner -> inner.write(2));
                out.write(3);
            });
            assertThat(one.get("a", MAX_BYTES).content()).containsExactly(1, 3);
        }
    }

    @Test
    void aFullFileSystemRefusesAndServesOn() throws Exception {
        try (SmallFileSystem small = SmallFileSystem.mount(Files.createDirectory(directory.resolve("small")), 1)) {
            try (ObjectStore store = FileObjectStore.open(directory.resolve("small"))) {
                store.put("a", out -> out.write(new byte[500_000]));
                String tag = store.get("a", MAX_BYTES).tag();
                assertFull(() -> store.put("b", out -> out.write(new byte[800_000])));
                assertFull(() -> store.putIf("a", new byte[800_000], tag));
                assertThat(store.get("b", MAX_BYTES)).isNull();
                assertThat(store.get("a", MAX_BYTES).tag()).isEqualTo(tag);
                store.delete("a");
                store.put("b", out -> out.write(new byte[800_000]));
            }
        }
    }

    private static void assertFull(ThrowingCallable put) {
        assertThatThrownBy(put)
                .isInstanceOfSatisfying(
                        ObjectStoreException.class,
                        full -> assertThat(full.kind()).isEqualTo(Kind.FULL))
                .hasMessageContaining("free space");
    }

    @Test
    void aFileSystemThatTakesCapitalLettersForSmallOnesIsRefused() throws IOException {
        try (FileSystem files = Jimfs.newFileSystem(Configuration.osX())) {
            Path written = files.getPath("/archive");
            Files.createDirectories(written.resolve("~tmp"));
            assertThatThrownBy(() -> FileObjectStore.open(written))
                    .isInstanceOf(ObjectStoreException.class)
                    .hasMessageContaining("capital letters");
        }
    }

    @Test
    void whatMayNotBeWrittenIsDenied() throws IOException {
        Path closed = Files.createDirectory(directory.resolve("closed"));
        assumeTrue(closed.toFile().setWritable(false) && !Files.isWritable(closed), "this user may write everywhere");
        try (ObjectStore store = FileObjectStore.open(closed)) {
            assertThatThrownBy(() -> store.put("a", out -> out.write(1)))
                    .isInstanceOfSatisfying(
                            ObjectStoreException.class,
                            denied -> assertThat(denied.kind()).isEqualTo(Kind.DENIED));
        }
    }
}
