package io.caravan;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.testing.DirectoryImage;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreAnatomy;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests damage to the real files of an open store: reads and verification report the damage, and everything else
 * continues to work.
 */
class OpenStoreDamageTest {
    @TempDir
    Path directory;

    private DurableListStore store;
    private StoreAnatomy anatomy;

    @BeforeEach
    void openWithFramesBehindACheckpoint() throws Exception {
        WatchedScheduler threads = new WatchedScheduler();
        store = threads.open(SmallStore.config(directory).build());
        append(store, 1, "a", "b", "c");
        append(store, 2, "x", "y");
        store.checkpoint();
        append(store, 1, "d");
        append(store, 1, "e");
        append(store, 1, "f");
        anatomy = StoreAnatomy.of(DirectoryImage.ofSettled(directory, threads));
        assertThat(verify()).isEmpty();
    }

    @AfterEach
    void close() {
        store.close();
    }

    private List<CaravanException> verify() {
        return store.verify(VerifyReport.Progress.NONE).faults();
    }

    private void assertOneFault(String file) {
        assertThat(verify())
                .singleElement()
                .satisfies(fault -> assertThat(fault).hasMessageContaining(file));
    }

    private void flip(String name, int offset) throws IOException {
        try (RandomAccessFile file =
                new RandomAccessFile(directory.resolve(name).toFile(), "rw")) {
            file.seek(offset);
            int before = file.read();
            file.seek(offset);
            file.write(before ^ 4);
        }
    }

    @Test
    void reportsDamagedValueAndReadsOthers() throws Exception {
        StoreAnatomy.HeapEntry entry = anatomy.entries().stream()
                .filter(any -> any.id() == 1 && any.sequence() == 1)
                .findFirst()
                .orElseThrow();
        flip(entry.file(), entry.offset() + 8);
        assertThatThrownBy(() -> texts(store, 1))
                .isInstanceOfSatisfying(CorruptStoreException.class, problem -> {
                    assertThat(problem.file()).endsWith(entry.file());
                    assertThat(problem.offset()).isEqualTo(entry.offset());
                    assertThat(problem.id()).isEqualTo(1);
                    assertThat(problem.sequence()).isEqualTo(1);
                })
                .hasMessageContainingAll(entry.file(), "document 1", "sequence 1");
        assertThat(texts(store, 1, 2)).containsExactly("2:c", "3:d", "4:e", "5:f");
        assertThat(texts(store, 2)).containsExactly("0:x", "1:y");
        VerifyReport report = store.verify(VerifyReport.Progress.NONE);
        assertThat(report.faults())
                .singleElement()
                .satisfies(fault -> assertThat(fault).hasMessageContaining("sequence 1"));
        assertThat(report.entries()).isEqualTo(7);
        append(store, 1, "g");
        assertThat(texts(store, 1, 5)).containsExactly("5:f", "6:g");
    }

    @Test
    void reportsEveryDamagedFrameIncludingLast() throws Exception {
        for (StoreAnatomy.Frame frame : anatomy.replayed()) {
            flip(frame.file(), frame.end() - 9);
            assertThat(verify()).first().isInstanceOfSatisfying(CorruptStoreException.class, problem -> {
                assertThat(problem.file()).endsWith(frame.file());
                assertThat(problem.offset()).isEqualTo(frame.offset());
            });
            flip(frame.file(), frame.end() - 9);
        }
        assertThat(verify()).isEmpty();
    }

    @Test
    void reportsDamagedCheckpoint() throws Exception {
        for (String name : DirectoryImage.of(directory).names("checkpoint-")) {
            for (int offset : new int[] {0, 50, 200}) {
                flip(name, offset);
                assertOneFault(name);
                flip(name, offset);
            }
        }
        assertThat(verify()).isEmpty();
    }

    @Test
    void reportsDamagedHeaderOfUsedSegment() throws Exception {
        for (String name :
                List.of(anatomy.lastFrame().file(), anatomy.entries().get(0).file())) {
            flip(name, 20);
            assertOneFault(name);
            flip(name, 20);
        }
    }

    @Test
    void reportsCheckpointTruncatedToZero() throws Exception {
        String name = DirectoryImage.of(directory).last("checkpoint-");
        try (RandomAccessFile file =
                new RandomAccessFile(directory.resolve(name).toFile(), "rw")) {
            file.setLength(0);
        }
        assertOneFault(name);
    }

    @Test
    void reportsMissingCheckpoint() throws Exception {
        String name = DirectoryImage.of(directory).last("checkpoint-");
        java.nio.file.Files.delete(directory.resolve(name));
        assertOneFault(name);
    }
}
