package io.caravan;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.checkpoint.CheckpointHeader;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.checkpoint.CheckpointWriter;
import io.caravan.engine.Recovered;
import io.caravan.engine.Recovery;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.RecordLayout;
import io.caravan.format.Region;
import io.caravan.fuzz.Reseal;
import io.caravan.heap.HeapFile;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import io.caravan.io.FileStorage;
import io.caravan.io.StoreFile;
import io.caravan.testing.SmallStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.IntStream;
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
        unpack("store-v1-" + state + ".zip", directory);
    }

    static void unpack(String zip, Path directory) throws IOException {
        try (ZipInputStream files = new ZipInputStream(resource(zip))) {
            for (ZipEntry file = files.getNextEntry(); file != null; file = files.getNextEntry()) {
                Files.write(directory.resolve(file.getName()), files.readAllBytes());
            }
        }
    }

    private static String expected() throws IOException {
        return expected("store-v1.txt");
    }

    static String expected(String name) throws IOException {
        try (InputStream text = resource(name)) {
            return new String(text.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private ListStore open() {
        return DurableListStore.open(SmallStore.config(directory).build());
    }

    static String contents(ListStore store) {
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

    /**
     * A checkpoint captures its lists after its start, and those of version 1 gave what was appended in between the place
     * in the heap that it was to have. A power loss may have come before the heap had it, so the log counts.
     */
    @Test
    void takesWhatWasAppendedBehindACheckpointsStartFromTheLog() throws Exception {
        unpack("killed");
        try (FileStorage storage = FileStorage.open(directory);
                Recovered recovered = new Recovery(storage).recover()) {
            recovered.heapFile().createNext();
            writeCheckpointOfPlacesNeverWritten(storage, recovered);
        }
        assertThat(DurableListStore.verify(directory, VerifyReport.Progress.NONE)
                        .faults())
                .isEmpty();
        try (ListStore store = open()) {
            assertThat(contents(store)).isEqualTo(expected());
            append(store, 1_000, "takes a place that seems to be free");
            store.checkpoint();
            store.delete(1_000).join();
            assertThat(contents(store)).isEqualTo(expected());
        }
    }

    /** With the start of the newest, captured where the log ends. What is in the log has places that nobody has written. */
    private static void writeCheckpointOfPlacesNeverWritten(FileStorage storage, Recovered recovered)
            throws IOException {
        CheckpointHeader newest = recovered.newest();
        HeapFile heap = recovered.heapFile();
        long number = newest.number() + 1;
        long captureLsn = recovered.end().position();
        long[] free = {heap.geometry().firstAddress(heap.segmentCount() - 1)};
        try (CheckpointWriter writer = new CheckpointWriter(storage, number)) {
            for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
                writer.startPartition(partition, captureLsn);
                IntStream.Builder lists = IntStream.builder();
                recovered.index().forEachList(partition, lists::add);
                for (int list : lists.build().toArray()) {
                    write(recovered.index(), list, free, writer);
                }
                writer.endPartition();
            }
            writer.publish(new CheckpointHeader(
                    newest.version(),
                    number,
                    newest.storeId(),
                    newest.startLsn(),
                    captureLsn,
                    newest.previousLsn(),
                    writer.lists(),
                    writer.entries(),
                    newest.logSegmentBytes(),
                    newest.heapSegmentBytes(),
                    heap.segmentCount(),
                    ListIndex.PARTITIONS));
        }
        try (StoreFile file = storage.open(FileNames.CHECKPOINT.of(number))) {
            ByteBuffer header = ByteBuffer.allocate(FileHeader.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            file.read(header, 0);
            header.flip().putInt(FileHeader.VERSION, newest.version());
            Reseal.fileHeader(header);
            file.write(header, 0);
        }
    }

    private static void write(ListIndex index, int list, long[] free, CheckpointWriter writer) throws IOException {
        writer.list(index.id(list), index.birth(list), index.first(list), index.next(list));
        long[] regions = new long[(int) (index.next(list) - index.first(list))];
        if (regions.length > 0) {
            ListCursor cursor = new ListCursor();
            index.seek(list, index.first(list), cursor);
            index.copyRegions(cursor, regions, 0, regions.length);
            for (int i = 0; i < regions.length; i++) {
                if (Region.isInLog(regions[i])) {
                    regions[i] = Region.pack(free[0], Region.length(regions[i]));
                    free[0] += Region.entryBytes(regions[i]);
                }
            }
            writer.regions(regions, 0, regions.length);
        }
    }

    @Test
    void refusesAValueThatIsOneByteTooLongAndSaysSo() {
        ByteBuffer frame = ByteBuffer.allocate(
                        FrameLayout.HEADER_BYTES + RecordLayout.appendBytes(Region.MAX_LENGTH + 1) + Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
        int at = FrameLayout.HEADER_BYTES;
        frame.putInt(FrameLayout.PAYLOAD_BYTES, frame.capacity() - at);
        frame.putInt(FrameLayout.RECORD_COUNT, 1);
        frame.putInt(at + RecordLayout.TYPE, 1);
        frame.putInt(at + RecordLayout.RECORD_BYTES, frame.capacity() - at);
        frame.putLong(at + RecordLayout.ID, 17);
        frame.putInt(at + RecordLayout.ENTRY + Long.BYTES + EntryLayout.LENGTH, Region.MAX_LENGTH + 1);
        assertThatExceptionOfType(StoreDirectoryException.class)
                .isThrownBy(() -> RecordLayout.forEachInFrame(frame, 0, 4096, new IgnoredRecords()))
                .withMessageStartingWith("LSN ")
                .withMessageContaining("document 17 has a value of 32 MiB, one byte too long for this release");
    }

    /** Nothing of a record's content matters. */
    private static final class IgnoredRecords implements RecordLayout.Visitor {
        @Override
        public void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int at, int length) {}

        @Override
        public void trim(long lsn, long id, long firstSequence) {}

        @Override
        public void delete(long lsn, long id) {}
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
