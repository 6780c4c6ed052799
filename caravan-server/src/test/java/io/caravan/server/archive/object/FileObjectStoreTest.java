package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.testing.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the object store contract for a directory, and the behavior that is specific to directories. */
class FileObjectStoreTest extends ObjectStoreContract {
    private static final int MAX_BYTES = 10_000_000;

    @TempDir
    Path directory;

    private Path objectDirectory() {
        return directory.resolve("parent/archive");
    }

    @Override
    ObjectStore openPlace() {
        return FileObjectStore.open(objectDirectory());
    }

    @Override
    void fill(List<String> keys) throws IOException {
        for (String key : keys) {
            Path file = objectDirectory().resolve(key);
            Files.createDirectories(file.getParent());
            Files.write(file, new byte[1]);
        }
    }

    @Override
    void assertNothingHalfDone() throws IOException {
        Path staging = objectDirectory().resolve("~tmp");
        if (Files.exists(staging)) {
            assertThat(files(staging)).isEmpty();
        }
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    /** Reading a directory reports errors of the disk as {@link DirectoryIteratorException}s. */
    @Test
    void reportsUnreadableDirectory() {
        try (FileObjectStore store = FileObjectStore.open(objectDirectory())) {
            assertThatThrownBy(() -> store.run("list", "", () -> {
                        throw new DirectoryIteratorException(new IOException("Stale file handle"));
                    }))
                    .isInstanceOf(ObjectStoreException.class)
                    .hasMessageContaining("cannot list")
                    .hasMessageContaining("Stale file handle");
        }
    }

    @Test
    void readsAndDeletesCreateNothing() {
        try (ObjectStore store = openPlace()) {
            assertThat(store.get("a", 10)).isNull();
            assertThat(store.list("")).isEmpty();
            store.delete("a");
            assertThatThrownBy(() -> store.deleteIf("a", "tag")).isInstanceOf(ObjectStoreException.class);
        }
        assertThat(objectDirectory().getParent()).doesNotExist();
    }

    @Test
    void closedStoreRejectsWrites() {
        ObjectStore store = openPlace();
        store.put("a", out -> out.write(1));
        store.close();
        assertThatThrownBy(() -> store.put("b", out -> out.write(1)))
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining("is closed");
        assertThatThrownBy(() -> store.putIf("b", new byte[1], null)).isInstanceOf(ObjectStoreException.class);
        assertThat(objectDirectory().resolve("b")).doesNotExist();
    }

    /** A put that hangs in its file system holds no lock that other puts need. */
    @Test
    void putsDoNotWaitForEachOther() throws Exception {
        try (ObjectStore store = openPlace()) {
            store.put("a", out -> out.write(1));
            synchronized (store) {
                CompletableFuture.runAsync(() -> store.put("b", out -> out.write(1)))
                        .get(20, TimeUnit.SECONDS);
            }
        }
    }

    /** Otherwise, a put could return before another thread has made the name of the archive's directory durable. */
    @Test
    void firstPutsWaitUntilDirectoryIsDurable() throws Exception {
        Path place = directory.resolve("new");
        try (ObjectStore store = FileObjectStore.open(place)) {
            Thread put = new Thread(() -> store.put("a", out -> out.write(1)));
            synchronized (store) {
                put.start();
                Eventually.await("the put waits", () -> put.getState() == Thread.State.BLOCKED);
                assertThat(place).doesNotExist();
            }
            put.join();
            assertThat(place.resolve("a")).exists();
        }
    }

    @Test
    void followsSymbolicLinkThatIsChanged() throws IOException {
        Path one = Files.createDirectory(directory.resolve("one"));
        Path two = Files.createDirectory(directory.resolve("two"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), one);
        try (ObjectStore store = FileObjectStore.open(link)) {
            store.put("a", out -> out.write(1));
            Files.delete(link);
            Files.createSymbolicLink(link, two);
            store.put("folder/b", out -> out.write(2));
            assertThat(store.get("folder/b", 1).content()).containsExactly(2);
            assertThat(one.resolve("folder")).doesNotExist();
            store.putIf("c", new byte[1], null);
            assertThatThrownBy(() -> store.putIf("c", new byte[1], null))
                    .isInstanceOfSatisfying(
                            ObjectStoreException.class,
                            exists -> assertThat(exists.kind()).isEqualTo(Kind.CONFLICT));
            // Another server, to which only the new target is known, must be excluded from conditional puts.
            assertThat(two.resolve("~lock")).exists();
            assertThat(one.resolve("~lock")).doesNotExist();
        }
    }

    @Test
    void rejectsFileAsDirectory() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> FileObjectStore.open(file))
                .isInstanceOf(ObjectStoreException.class)
                .hasMessageContaining("is a file");
    }

    @Test
    void putsSucceedWhileDirectoriesAreRemoved() throws Exception {
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
            assertThat(objectDirectory().resolve("folder")).doesNotExist();
        }
    }

    @Test
    void conditionsHoldAcrossProcesses() throws Exception {
        int each = 200;
        try (ObjectStore store = openPlace()) {
            store.putIf("count", "0".getBytes(StandardCharsets.UTF_8), null);
            try (DirectoryProcess one = DirectoryProcess.count(objectDirectory(), "count", each);
                    DirectoryProcess another = DirectoryProcess.count(objectDirectory(), "count", each)) {
                assertThat(one.succeeds()).isTrue();
                assertThat(another.succeeds()).isTrue();
            }
            assertThat(new String(store.get("count", 10).content(), StandardCharsets.UTF_8))
                    .isEqualTo(Integer.toString(2 * each));
        }
    }

    /** A store that begins to write removes leftovers, which must not include files that are just being created. */
    @Test
    void putsSucceedWhileOtherProcessesBeginToWrite() throws Exception {
        try (DirectoryProcess other = DirectoryProcess.putRepeatedly(objectDirectory(), "a");
                ObjectStore store = openPlace()) {
            for (int i = 0; i < 300; i++) {
                store.put("b", out -> out.write(1));
            }
            other.resume();
            assertThat(other.succeeds()).isTrue();
        }
    }

    @Test
    void keepsUnfinishedFileOfOtherProcess() throws Exception {
        try (DirectoryProcess other = DirectoryProcess.putHalf(objectDirectory(), "a");
                ObjectStore store = openPlace()) {
            assertThat(files(objectDirectory().resolve("~tmp"))).hasSize(1);
            store.put("b", out -> out.write(1));
            assertThat(files(objectDirectory().resolve("~tmp"))).hasSize(1);
            assertThat(store.get("a", MAX_BYTES)).isNull();
            other.resume();
            assertThat(other.succeeds()).isTrue();
            assertThat(store.get("a", MAX_BYTES)).isNotNull();
        }
    }

    @Test
    void removesUnfinishedFileOfKilledProcess() throws Exception {
        try (DirectoryProcess other = DirectoryProcess.putHalf(objectDirectory(), "a")) {
            other.kill();
        }
        assertThat(files(objectDirectory().resolve("~tmp"))).hasSize(1);
        try (ObjectStore store = openPlace()) {
            assertThat(store.get("a", MAX_BYTES)).isNull();
            assertThat(files(objectDirectory().resolve("~tmp"))).hasSize(1);
            store.put("b", out -> out.write(1));
            assertThat(files(objectDirectory().resolve("~tmp"))).isEmpty();
        }
    }

    @Test
    void keepsUnfinishedFileOfOtherStoreInProcess() {
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
    void reportsFullFileSystemAndContinues() throws Exception {
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
    void rejectsCaseInsensitiveFileSystem() throws IOException {
        try (FileSystem files = Jimfs.newFileSystem(Configuration.osX())) {
            Path written = files.getPath("/archive");
            Files.createDirectories(written.resolve("~tmp"));
            assertThatThrownBy(() -> FileObjectStore.open(written))
                    .isInstanceOf(ObjectStoreException.class)
                    .hasMessageContaining("capital letters");
        }
    }

    @Test
    void reportsDeniedWrite() throws IOException {
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
