package io.caravan.inspect;

import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.copyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.CorruptStoreException;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Seeds;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreAnatomy;
import io.caravan.testing.StoreAnatomy.HeapEntry;
import io.caravan.testing.StoreContents;
import io.caravan.testing.StoreContents.ListContents;
import io.caravan.testing.Value;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests reading lists and checkpoints from stores that are closed, open, or damaged. */
@Timeout(600)
class ContentsReaderTest {
    private static final int LISTS = 6;

    @TempDir
    private Path directory;

    private final WatchedScheduler threads = new WatchedScheduler();

    /** Records everything that a {@link ContentsReader} reports. */
    private static final class FoundContents implements StoreVisitor {
        final List<Long> checkpoints = new ArrayList<>();
        final SortedMap<Long, List<Value>> values = new TreeMap<>();
        final SortedMap<Long, List<Long>> sequences = new TreeMap<>();
        final List<ValueLocation> locations = new ArrayList<>();
        final List<CorruptStoreException> damage = new ArrayList<>();
        private final Runnable atTheTenth;
        int moves;

        FoundContents() {
            this(() -> {});
        }

        /** Creates a visitor that runs the action after it has received the value with sequence 10. */
        FoundContents(Runnable atTheTenth) {
            this.atTheTenth = atTheTenth;
        }

        @Override
        public void checkpoint(long number, String file, long startLsn, long endLsn, long lists, long entries) {
            checkpoints.add(number);
        }

        @Override
        public void list(long id, long first, long next, long count, long bytes) {
            values.computeIfAbsent(id, any -> new ArrayList<>());
            sequences.computeIfAbsent(id, any -> new ArrayList<>());
        }

        @Override
        public void entry(long id, long sequence, ValueLocation location) {
            sequences.get(id).add(sequence);
            locations.add(location);
        }

        @Override
        public void value(long id, long sequence, ValueLocation location, ByteBuffer value) {
            values.get(id).add(Value.of(sequence, copyOf(value)));
            locations.add(location);
            if (sequence == 10) {
                atTheTenth.run();
            }
        }

        @Override
        public void damaged(CorruptStoreException problem) {
            damage.add(problem);
        }

        @Override
        public void moved(long id, long sequence) {
            moves++;
        }
    }

    private ListStore open() {
        return threads.open(SmallStore.config(directory).build());
    }

    private static void write(ListStore store, int operations, Random random) {
        for (int i = 0; i < operations; i++) {
            long id = random.nextInt(LISTS) - 2;
            ListInfo info = store.info(id);
            int choice = random.nextInt(20);
            if (info == null || choice > 3) {
                store.append(id, bytes(random.nextInt(2_000), i)).join();
            } else if (choice > 0) {
                store.trim(id, random.nextInt(10)).join();
            } else {
                store.delete(id).join();
            }
        }
    }

    private static void assertFinds(ContentsReader reader, StoreContents contents) throws IOException {
        for (Map.Entry<Long, ListContents> list : contents.lists().entrySet()) {
            FoundContents found = new FoundContents();
            assertThat(reader.readList(list.getKey(), found)).isTrue();
            assertThat(found.values.get(list.getKey()))
                    .isEqualTo(list.getValue().values());
            assertThat(found.damage).isEmpty();
        }
        assertThat(reader.readList(4_711, new FoundContents())).isFalse();
    }

    @Test
    void reportsThatFilesMayNotBeRead() {
        AccessDeniedException denied = new AccessDeniedException("log");
        Storage storage = (Storage) Proxy.newProxyInstance(
                Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("list")) {
                        return List.of(FileNames.LOG.of(0));
                    }
                    throw denied;
                });
        assertThatThrownBy(() -> new DamagedFiles(storage)).isSameAs(denied);
    }

    @Test
    void returnsAppendedValuesThatWereNotTrimmed() {
        Seeds.forEach(1, seed -> {
            Random random = new Random(seed);
            try (ListStore store = open()) {
                for (int round = 0; round < 4; round++) {
                    write(store, 60, random);
                    assertFinds(ContentsReader.open(directory), StoreContents.of(store));
                    store.checkpoint();
                }
            }
        });
    }

    @Test
    void checkpointReportsAllListsAndValueLocations() throws Exception {
        DirectoryImage image = SmallStore.build(directory).closed();
        StoreAnatomy anatomy = StoreAnatomy.of(image);
        FoundContents found = new FoundContents();
        new ContentsReader(new DamagedFiles(new MemoryStorage(image))).readCheckpoint(found);

        assertThat(found.damage).isEmpty();
        assertThat(found.checkpoints)
                .containsExactly(anatomy.checkpoints()
                        .get(anatomy.checkpoints().size() - 1)
                        .number());
        SmallStore.build(directory.resolve("again"))
                .contents()
                .lists()
                .forEach((id, list) -> assertThat(found.sequences.get(id))
                        .as("list %d", id)
                        .isEqualTo(list.values().stream().map(Value::sequence).toList()));
        List<ValueLocation> inHeap =
                found.locations.stream().filter(location -> !location.inLog()).toList();
        for (HeapEntry entry : anatomy.entries()) {
            assertThat(inHeap).contains(new ValueLocation(false, entry.file(), entry.offset(), entry.length()));
        }
    }

    private static void appendForty(ListStore store) {
        for (int i = 0; i < 40; i++) {
            store.append(7, bytes(1_000, i)).join();
        }
    }

    /** Checks that a reader finds values that move to the heap between two reads, while the log is reused. */
    @Test
    void findsValuesThatMoveDuringRead() throws Exception {
        try (ListStore store = open()) {
            appendForty(store);
            StoreContents before = StoreContents.of(store);
            FoundContents found = new FoundContents(() -> {
                write(store, 80, new Random(1));
                store.checkpoint();
                write(store, 80, new Random(2));
                store.checkpoint();
                write(store, 80, new Random(3));
            });
            assertThat(ContentsReader.open(directory).readList(7, found)).isTrue();
            assertThat(found.values.get(7L)).isEqualTo(before.lists().get(7L).values());
            assertThat(found.damage).isEmpty();
            assertThat(found.moves).isPositive();
        }
    }

    @Test
    void trimDuringReadCausesNoDamageReport() throws Exception {
        try (ListStore store = open()) {
            appendForty(store);
            FoundContents found = new FoundContents(() -> {
                store.trimTo(7, 30).join();
                for (int i = 0; i < 3; i++) {
                    store.checkpoint();
                    write(store, 80, new Random(i));
                }
            });
            assertThat(ContentsReader.open(directory).readList(7, found)).isTrue();
            assertThat(found.values.get(7L))
                    .extracting(Value::sequence)
                    .contains(0L, 10L, 30L, 39L)
                    .isSorted();
            assertThat(found.damage).isEmpty();
            assertThat(found.moves).isPositive();
        }
    }

    @Test
    void reportsDamagedValueAndReturnsOthers() throws Exception {
        SmallStore store = SmallStore.build(directory);
        for (HeapEntry entry : StoreAnatomy.of(store.closed()).entries()) {
            DirectoryImage damaged = store.closed().withFlip(entry.file(), entry.offset());
            FoundContents found = new FoundContents();
            new ContentsReader(new DamagedFiles(new MemoryStorage(damaged))).readList(entry.id(), found);

            assertThat(found.damage).singleElement().satisfies(problem -> {
                assertThat(problem.file()).endsWith(entry.file());
                assertThat(problem.offset()).isEqualTo(entry.offset());
                assertThat(problem.sequence()).isEqualTo(entry.sequence());
            });
            List<Value> others = store.contents().lists().get(entry.id()).values().stream()
                    .filter(value -> value.sequence() != entry.sequence())
                    .toList();
            assertThat(found.values.get(entry.id())).isEqualTo(others);
        }
    }

    @Test
    void reportsDamagedCheckpointSectionAndStillReadsLists() throws Exception {
        SmallStore store = SmallStore.build(directory);
        String newest = store.closed().last("checkpoint-");
        int length = store.closed().length(newest);
        for (int offset = 104; offset < length; offset += length / 17) {
            DirectoryImage damaged = store.closed().withFlip(newest, offset);
            ContentsReader reader = new ContentsReader(new DamagedFiles(new MemoryStorage(damaged)));
            FoundContents checkpoint = new FoundContents();
            reader.readCheckpoint(checkpoint);
            assertThat(checkpoint.damage)
                    .singleElement()
                    .satisfies(problem -> assertThat(problem.file()).endsWith(newest));
            for (Map.Entry<Long, ListContents> list : store.contents().lists().entrySet()) {
                FoundContents found = new FoundContents();
                assertThat(reader.readList(list.getKey(), found)).isTrue();
                assertThat(found.values.get(list.getKey()))
                        .isEqualTo(list.getValue().values());
            }
        }
    }
}
