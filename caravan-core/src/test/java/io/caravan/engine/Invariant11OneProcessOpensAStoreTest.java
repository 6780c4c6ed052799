package io.caravan.engine;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.Replica;
import io.caravan.Shards;
import io.caravan.StoreConfig;
import io.caravan.StoreDirectoryException;
import io.caravan.StoreLockedException;
import io.caravan.VerifyReport;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.Eventually;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.SmallStore;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Invariant 11: only one process can open a store, and it can open the store only once at a time. */
@LongTimeout
class Invariant11OneProcessOpensAStoreTest {

    /**
     * A program that runs in a separate process and tries to open a store. It exits with a code for the result, or
     * keeps the store open until it is ended.
     */
    static final class LockProbe {
        static final int OPENED = 10;
        static final int LOCKED = 11;
        static final int SOMETHING_ELSE = 12;

        private LockProbe() {}

        /**
         * Opens the store in the directory that the first argument names. If a second argument is given, creates the
         * file that it names, and keeps the store open.
         */
        public static void main(String[] arguments) throws IOException {
            try (DurableListStore store = open(Path.of(arguments[0]))) {
                if (arguments.length > 1) {
                    Files.createFile(Path.of(arguments[1]));
                    // Ends when the parent closes the pipe or kills this process.
                    while (System.in.read() >= 0) {
                        store.flush();
                    }
                }
                System.exit(OPENED);
            } catch (StoreLockedException locked) {
                System.exit(LOCKED);
            } catch (RuntimeException failed) {
                System.exit(SOMETHING_ELSE);
            }
        }

        static DurableListStore open(Path directory) {
            return DurableListStore.open(SmallStore.config(directory).build());
        }
    }

    @TempDir
    private Path temporary;

    private Path directory() {
        return temporary.resolve("store");
    }

    @Test
    void sameProcessOpensStoreOnlyOnce() {
        try (DurableListStore store = LockProbe.open(directory())) {
            append(store, 1, "a");
            assertThatExceptionOfType(StoreLockedException.class)
                    .isThrownBy(() -> LockProbe.open(directory()))
                    .withMessageContaining(directory().toString())
                    .withMessageContaining("this process");
            assertThatExceptionOfType(StoreLockedException.class)
                    .isThrownBy(() -> DurableListStore.verify(directory(), VerifyReport.Progress.NONE));
            assertThat(append(store, 1, "b")).isEqualTo(1);
        }
        try (DurableListStore again = LockProbe.open(directory())) {
            assertThat(texts(again, 1)).containsExactly("0:a", "1:b");
        }
    }

    @Test
    void rejectsSymbolicLinkToOpenStore() throws IOException {
        Path link = temporary.resolve("link");
        try (DurableListStore store = LockProbe.open(directory())) {
            Files.createSymbolicLink(link, directory());
            assertThatExceptionOfType(StoreLockedException.class).isThrownBy(() -> LockProbe.open(link));
            assertThat(append(store, 1, "a")).isEqualTo(0);
        }
    }

    @Test
    void rejectsAnotherProcessWhileStoreIsOpen() throws Exception {
        try (DurableListStore store = LockProbe.open(directory())) {
            append(store, 1, "a");
            // A rejected open in this process must not release the lock of the store.
            assertThatExceptionOfType(StoreLockedException.class).isThrownBy(() -> LockProbe.open(directory()));
            assertThat(probe(directory()).awaitExit()).isEqualTo(LockProbe.LOCKED);
            assertThat(append(store, 1, "b")).isEqualTo(1);
        }
        assertThat(probe(directory()).awaitExit()).isEqualTo(LockProbe.OPENED);
    }

    /** Checks that a rejected open from another class loader in the same process does not release the lock. */
    @Test
    void rejectedClassLoaderDoesNotReleaseLock() throws Exception {
        try (DurableListStore store = LockProbe.open(directory())) {
            assertThatThrownBy(this::openWithClassesOfItsOwn)
                    .rootCause()
                    .hasMessageContaining(directory().toString())
                    .hasMessageContaining("this process");
            assertThat(probe(directory()).awaitExit()).isEqualTo(LockProbe.LOCKED);
            assertThat(append(store, 1, "a")).isEqualTo(0);
        }
    }

    private void openWithClassesOfItsOwn() throws Exception {
        URL classes =
                DurableListStore.class.getProtectionDomain().getCodeSource().getLocation();
        URL logging = LoggerFactory.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {classes, logging}, ClassLoader.getPlatformClassLoader())) {
            loader.loadClass(DurableListStore.class.getName())
                    .getMethod("open", Path.class)
                    .invoke(null, directory());
        }
    }

    private ChildJvm probe(Path... arguments) throws IOException {
        return ChildJvm.start(
                LockProbe.class.getName(),
                Stream.of(arguments).map(Path::toString).toList(),
                temporary.resolve("log"));
    }

    @Test
    void killedProcessLeavesNoLock() throws Exception {
        Path ready = temporary.resolve("ready");
        try (ChildJvm holder = probe(directory(), ready)) {
            Eventually.await("the other process holds the store", () -> Files.exists(ready) || !holder.alive());
            assertThatExceptionOfType(StoreLockedException.class)
                    .isThrownBy(() -> LockProbe.open(directory()))
                    .withMessageContaining("process " + holder.pid());
            holder.kill();
        }
        try (DurableListStore store = LockProbe.open(directory())) {
            assertThat(append(store, 1, "mine now")).isEqualTo(0);
        }
    }

    @Test
    void failedOpenReleasesDirectory() throws Exception {
        LockProbe.open(directory()).close();
        Path unknown = Files.createFile(directory().resolve("notes.txt"));
        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(() -> LockProbe.open(directory()))
                    .withMessageContaining("notes.txt");
        }
        Files.delete(unknown);
        assertThat(probe(directory()).awaitExit()).isEqualTo(LockProbe.OPENED);
        try (DurableListStore store = LockProbe.open(directory())) {
            assertThat(append(store, 1, "a")).isEqualTo(0);
        }
    }

    @Test
    void rejectedOpenLeavesNoLockFileAmongOtherFiles() throws IOException {
        Path notes = Files.createFile(Files.createDirectory(directory()).resolve("notes.txt"));
        StoreConfig config = SmallStore.config(directory()).build();
        StoreConfig replica =
                SmallStore.config(directory()).durability(Durability.PROCESS).build();
        for (ThrowingCallable open : List.<ThrowingCallable>of(
                () -> DurableListStore.open(config), () -> Shards.open(config, 2), () -> Replica.open(replica, 1, 0))) {
            assertThatExceptionOfType(StoreDirectoryException.class)
                    .isThrownBy(open)
                    .withMessageContaining("notes.txt");
            assertThat(directory()).isDirectoryNotContaining(file -> !file.equals(notes));
        }
    }
}
