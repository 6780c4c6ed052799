package io.caravan;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.io.FileStorage;
import io.caravan.testing.SmallStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.TreeSet;
import java.util.zip.CRC32C;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Stores that a build of format version 1 has made, where each value had a place in the heap from the beginning: one
 * that was killed behind its second checkpoint, and the same closed. The list of what they hold was read by that build.
 */
class VersionOneStoreTest {
    @TempDir
    Path directory;

    private static InputStream resource(String name) {
        return Objects.requireNonNull(VersionOneStoreTest.class.getResourceAsStream(name), name);
    }

    private void unpack(String state) throws IOException {
        try (ZipInputStream files = new ZipInputStream(resource("store-v1-" + state + ".zip"))) {
            for (ZipEntry file = files.getNextEntry(); file != null; file = files.getNextEntry()) {
                Files.write(directory.resolve(file.getName()), files.readAllBytes());
            }
        }
    }

    private static String expected() throws IOException {
        try (InputStream text = resource("store-v1.txt")) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private ListStore open() {
        return DurableListStore.open(SmallStore.config(directory).build());
    }

    private static String contents(ListStore store) {
        StringBuilder text = new StringBuilder();
        TreeSet<Long> ids = new TreeSet<>();
        store.forEachList(ids::add);
        for (long id : ids) {
            ListInfo info = Objects.requireNonNull(store.info(id));
            text.append("list %d: %d to %d%n".formatted(id, info.firstSequence(), info.nextSequence()));
            store.get(id, io.caravan.testing.StoreCalls.each((sequence, value) -> text.append(line(sequence, value))));
        }
        return text.toString();
    }

    private static String line(long sequence, ByteBuffer value) {
        CRC32C crc = new CRC32C();
        int bytes = value.remaining();
        crc.update(value);
        return "  %d: %d bytes, CRC-32C %x%n".formatted(sequence, bytes, crc.getValue());
    }

    @ParameterizedTest
    @ValueSource(strings = {"killed", "closed"})
    void isCarriedOver(String state) throws Exception {
        unpack(state);
        assertThat(DurableListStore.verify(directory, VerifyReport.Progress.NONE)
                        .faults())
                .isEmpty();
        try (ListStore store = open()) {
            assertThat(contents(store)).isEqualTo(expected());
            append(store, 3, "goes on");
        }
        for (int i = 0; i < 3; i++) {
            try (ListStore store = open()) {
                store.trim(3, 0).join();
                append(store, 1_000 + i, "makes checkpoints of its own");
            }
            assertThat(DurableListStore.verify(directory, VerifyReport.Progress.NONE)
                            .faults())
                    .isEmpty();
        }
        try (ListStore store = open()) {
            for (int i = 0; i < 3; i++) {
                assertThat(texts(store, 1_000 + i)).containsExactly("0:makes checkpoints of its own");
                store.delete(1_000 + i).join();
            }
            long last = Objects.requireNonNull(store.info(3)).nextSequence() - 1;
            assertThat(texts(store, 3, last)).containsExactly(last + ":goes on");
        }
    }

    /** So that a release that knows version 1 only refuses the store, and does not take it for damaged. */
    @Test
    void hasACheckpointOfTheNewVersionBeforeTheFirstWrite() throws Exception {
        unpack("closed");
        try (ListStore store = open()) {
            assertThat(store.stats().checkpoints()).isOne();
        }
        try (FileStorage storage = FileStorage.open(directory)) {
            long newest = storage.list().stream()
                    .filter(name -> FileNames.CHECKPOINT.number(name).isPresent())
                    .mapToLong(name -> FileNames.CHECKPOINT.number(name).getAsLong())
                    .max()
                    .orElseThrow();
            try (CheckpointReader reader = new CheckpointReader(storage, newest)) {
                assertThat(reader.header().version()).isEqualTo(FileHeader.NEWEST_VERSION);
            }
        }
    }
}
