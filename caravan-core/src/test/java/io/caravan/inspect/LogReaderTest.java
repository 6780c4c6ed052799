package io.caravan.inspect;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.copyOf;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.CorruptStoreException;
import io.caravan.Durability;
import io.caravan.DurableListStore;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.WriteBatch;
import io.caravan.format.EntryLayout;
import io.caravan.format.FrameLayout;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.FormerStore;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Seeds;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreAnatomy;
import io.caravan.testing.StoreAnatomy.Frame;
import io.caravan.testing.Value;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests reading the log of a store, including a log that is damaged, being written, or being recycled. */
@Timeout(600)
class LogReaderTest {
    private static final int LISTS = 5;

    @TempDir
    private Path directory;

    private final WatchedScheduler threads = new WatchedScheduler();
    private final FoundInLog found = new FoundInLog();
    private final List<Object> done = new ArrayList<>();

    private record Appended(long id, Value value) {}

    private record Trimmed(long id, long first) {}

    private record Deleted(long id) {}

    /** Records everything that a {@link LogReader} reports, in order. */
    private static final class FoundInLog implements StoreVisitor {
        final List<Long> lsns = new ArrayList<>();
        final List<Object> operations = new ArrayList<>();
        final List<Long> segments = new ArrayList<>();
        final List<CorruptStoreException> damage = new ArrayList<>();
        final List<List<Long>> missed = new ArrayList<>();

        /** Reads until the end of the log. */
        void readAll(LogReader reader) throws IOException {
            boolean more = true;
            while (more) {
                more = reader.next(this);
            }
        }

        @Override
        public void segment(long number, String file) {
            segments.add(number);
        }

        @Override
        public void append(
                long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int entryAt, int length) {
            ByteBuffer value = buffer.slice(entryAt + EntryLayout.VALUE, length);
            add(lsn, new Appended(id, Value.of(sequence, copyOf(value))));
        }

        @Override
        public void trim(long lsn, long id, long firstSequence) {
            add(lsn, new Trimmed(id, firstSequence));
        }

        @Override
        public void delete(long lsn, long id) {
            add(lsn, new Deleted(id));
        }

        private void add(long lsn, Object operation) {
            lsns.add(lsn);
            operations.add(operation);
        }

        @Override
        public void missed(long from, long to) {
            missed.add(List.of(from, to));
        }

        @Override
        public void damaged(CorruptStoreException problem) {
            damage.add(problem);
        }
    }

    private ListStore open() {
        return threads.open(SmallStore.config(directory).build());
    }

    /** Appends, trims, and deletes at random, and records each operation when it is durable. */
    private void write(ListStore store, int operations, Random random) {
        for (int i = 0; i < operations; i++) {
            long id = random.nextInt(LISTS);
            ListInfo info = store.info(id);
            if (info == null || random.nextInt(4) > 0) {
                byte[] value = bytes(random.nextInt(3_000), i);
                long sequence = store.append(id, value).join();
                done.add(new Appended(id, Value.of(sequence, value)));
            } else if (random.nextInt(3) > 0) {
                long first =
                        info.firstSequence() + random.nextInt((int) (info.nextSequence() - info.firstSequence()) + 1);
                store.trimTo(id, first).join();
                if (first > info.firstSequence()) {
                    done.add(new Trimmed(id, first));
                }
            } else {
                store.delete(id).join();
                done.add(new Deleted(id));
            }
        }
    }

    @Test
    void readsEachRecordOnceAcrossManySegments() {
        Seeds.forEach(1, seed -> {
            Random random = new Random(seed);
            try (ListStore store = open();
                    LogReader reader = LogReader.open(directory, 0)) {
                for (int i = 0; i < 40; i++) {
                    write(store, 1 + random.nextInt(8), random);
                    found.readAll(reader);
                    assertThat(found.operations).isEqualTo(done);
                }
                assertThat(found.segments).hasSizeGreaterThan(5).doesNotHaveDuplicates();
                assertThat(found.missed).isEmpty();
                assertThat(found.damage).isEmpty();
            }
        });
    }

    @Test
    void readsEachRecordOnceFromConcurrentWriter() throws Exception {
        try (ListStore store = open();
                LogReader reader = LogReader.open(directory, 0)) {
            Thread writer = new Thread(() -> write(store, 300, new Random(7)));
            writer.start();
            while (writer.isAlive()) {
                found.readAll(reader);
            }
            found.readAll(reader);
            assertThat(found.operations).isEqualTo(done);
            assertThat(found.lsns).doesNotHaveDuplicates();
            assertThat(found.damage).isEmpty();
        }
    }

    @Test
    void reportsGapAfterSegmentsAreRecycled() throws Exception {
        try (ListStore store = open();
                LogReader reader = LogReader.open(directory, 0)) {
            Random random = new Random(11);
            write(store, 5, random);
            found.readAll(reader);
            int before = found.operations.size();
            long from = reader.position();
            for (int i = 0; i < 4; i++) {
                write(store, 60, random);
                store.checkpoint();
            }
            write(store, 20, random);
            // While segments are being recycled, more of them can disappear. The reader would report a second gap.
            threads.awaitRest();
            found.readAll(reader);

            assertThat(found.missed).hasSize(1);
            assertThat(found.missed.get(0).get(0)).isEqualTo(from);
            long to = found.missed.get(0).get(1);
            List<Object> afterGap = found.operations.subList(before, found.operations.size());
            assertThat(found.lsns.subList(before, found.lsns.size())).allMatch(lsn -> lsn > to);
            assertThat(afterGap)
                    .hasSizeGreaterThan(20)
                    .isEqualTo(done.subList(done.size() - afterGap.size(), done.size()));
            assertThat(found.damage).isEmpty();
        }
    }

    @Test
    void startsAtRequestedLsn() throws Exception {
        try (ListStore store = open()) {
            write(store, 80, new Random(3));
        }
        try (LogReader reader = LogReader.open(directory, 0)) {
            found.readAll(reader);
        }
        for (int i = 0; i < found.lsns.size(); i += 7) {
            FoundInLog rest = new FoundInLog();
            try (LogReader reader = LogReader.open(directory, found.lsns.get(i) - 1)) {
                rest.readAll(reader);
            }
            assertThat(rest.lsns).isEqualTo(found.lsns.subList(i, found.lsns.size()));
        }
    }

    /** Checks that the zeros before the start of a backup's checkpoint are not reported as damage. */
    @ParameterizedTest
    @ValueSource(ints = {0, 5})
    void reportsNoDamageInBackup(int writesDuringBackup, @TempDir Path another) throws Exception {
        Path copy = another.resolve("copy");
        try (DurableListStore store = (DurableListStore) open()) {
            write(store, 5, new Random(5));
            done.clear();
            AtomicBoolean begun = new AtomicBoolean();
            store.backup(copy, (part, total) -> {
                if (!begun.getAndSet(true)) {
                    write(store, writesDuringBackup, new Random(6));
                }
            });
        }
        try (LogReader reader = LogReader.open(copy, 0)) {
            found.readAll(reader);
            reader.requireReached(ContentsReader.open(copy).neededLogEnd(), found);
        }

        assertThat(found.damage).isEmpty();
        assertThat(found.missed).isEmpty();
        assertThat(found.operations).isEqualTo(done);
    }

    @Test
    void reportsGapWhenStartingBeforeOldestSegment() throws Exception {
        try (ListStore store = open()) {
            for (int i = 0; i < 4; i++) {
                write(store, 60, new Random(i));
                store.checkpoint();
            }
            threads.awaitRest();
            try (LogReader reader = LogReader.open(directory, 5_000)) {
                found.readAll(reader);
            }
        }
        assertThat(found.missed).hasSize(1);
        assertThat(found.missed.get(0).get(0)).isEqualTo(5_000);
        assertThat(found.damage).isEmpty();
    }

    /** Damages each frame of a store in turn, and checks that the reader reports it and reads all other frames. */
    @Test
    void reportsDamagedFrameAndReadsAllOthers() throws Exception {
        DirectoryImage image = SmallStore.build(directory).closed();
        try (LogReader reader = new LogReader(new DamagedFiles(new MemoryStorage(image)), 0)) {
            found.readAll(reader);
        }
        assertThat(found.damage).isEmpty();
        List<Frame> frames = StoreAnatomy.of(image).frames();
        assertThat(frames).hasSizeGreaterThan(5);
        for (Frame frame : frames) {
            boolean last = frame.equals(frames.get(frames.size() - 1));
            for (int offset : List.of(0, FrameLayout.LSN, FrameLayout.PAYLOAD_BYTES + 3, frame.bytes() - 1)) {
                FoundInLog rest = new FoundInLog();
                DirectoryImage damaged = image.withFlip(frame.file(), frame.offset() + offset);
                try (LogReader reader = new LogReader(new DamagedFiles(new MemoryStorage(damaged)), 0)) {
                    rest.readAll(reader);
                }
                List<Long> others = found.lsns.stream()
                        .filter(lsn -> lsn < frame.lsn() || lsn >= frame.lsn() + frame.bytes())
                        .toList();
                assertThat(rest.lsns).isEqualTo(others);
                if (last) {
                    assertThat(rest.damage).isEmpty();
                } else {
                    assertThat(rest.damage).hasSize(1);
                    assertThat(rest.damage.get(0)).hasMessageContaining("no valid frame, though the log continues");
                }
            }
        }
    }

    /** Checks that the reader follows new frames that refer to the last old one by LSN, as after a clean close. */
    @Test
    void readsFramesOfTwoFormatVersions() throws Exception {
        FormerStore.of("closed").writeTo(directory);
        try (ListStore store =
                DurableListStore.open(SmallStore.config(directory).build())) {
            append(store, 77, "new");
            append(store, 77, "newer");
            try (LogReader reader = LogReader.open(directory, 0)) {
                found.readAll(reader);
            }
        }
        assertThat(found.damage).isEmpty();
        assertThat(found.operations)
                .endsWith(new Appended(77, Value.of(0, bytes("new"))), new Appended(77, Value.of(1, bytes("newer"))));
    }

    /** Checks that reading ends where opening the store would cut off the log, before frames that follow a lost one. */
    @Test
    void stopsBeforeFramesCutOffByPowerCut() throws Exception {
        DirectoryImage full;
        try (ListStore store =
                DurableListStore.open(SmallStore.config(directory).build())) {
            append(store, 1, "forced");
            for (String value : List.of("lost", "cut off")) {
                WriteBatch batch = WriteBatch.create().append(1, bytes(value)).durability(Durability.PROCESS);
                await(store.write(batch));
            }
            full = DirectoryImage.of(directory);
        }
        List<Frame> frames = StoreAnatomy.of(full).frames();
        Frame lost = frames.get(frames.size() - 2);
        MemoryStorage storage = new MemoryStorage(full.withFlip(lost.file(), lost.end() - 1));
        try (LogReader reader = new LogReader(new DamagedFiles(storage), 0)) {
            found.readAll(reader);
            assertThat(found.damage).isEmpty();
            assertThat(reader.position()).isEqualTo(lost.lsn());
        }
        assertThat(found.operations).containsExactly(new Appended(1, Value.of(0, bytes("forced"))));
    }
}
