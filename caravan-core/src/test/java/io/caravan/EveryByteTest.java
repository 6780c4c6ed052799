package io.caravan;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static io.caravan.testing.StoreCalls.told;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.engine.Engine;
import io.caravan.engine.Scheduler;
import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.Faults;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import io.caravan.testing.StoreAnatomy;
import io.caravan.testing.StoreMap;
import io.caravan.testing.StoreMap.Area;
import io.caravan.testing.StoreMap.Kind;
import io.caravan.testing.WatchedScheduler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes bytes of a closed store. A change is harmless, or {@code verify} reports file, offset and, for heap entries,
 * document and sequence.
 *
 * <p>Every byte of every file is changed in up to three ways: a bit is flipped, and the byte is set to 0x00 and to
 * 0xFF. Used bytes are changed one at a time. Bytes that {@link StoreMap} calls unused are never read, so they are
 * changed {@value #UNUSED_TOGETHER} neighbors at a time, and all at once.
 *
 * <p>The entire {@code verify} checks each change. In checkpoints, which contain most of the used bytes, it checks only
 * every {@value #WHOLE_STEP}th, and its checkpoint reader checks each.
 *
 * <p>Without the profile {@code thorough}, the test changes one byte in {@value #QUICK_SHARE}, different ones in every
 * run.
 */
@Timeout(1800)
class EveryByteTest {
    private static final Logger LOGGER = LoggerFactory.getLogger(EveryByteTest.class);
    private static final int UNUSED_TOGETHER = 32;
    private static final int WHOLE_STEP = 7;
    /** Without the profile {@code thorough}, the test changes one byte in this many. */
    private static final int QUICK_SHARE = 48;
    /** A value whose frame takes two blocks and whose entry takes more than half of a heap segment. */
    private static final int BIG_VALUE_BYTES = 4100;

    private static final int SHOWN_FAILURES = 12;

    private static DirectoryImage image;
    private static StoreAnatomy anatomy;
    private static StoreMap map;

    /** A way to change a byte. */
    private enum Kill {
        FLIPPED {
            @Override
            byte of(byte value, int offset) {
                return (byte) (value ^ 1 << offset % Byte.SIZE);
            }
        },
        ZERO {
            @Override
            byte of(byte value, int offset) {
                return 0;
            }
        },
        ONES {
            @Override
            byte of(byte value, int offset) {
                return -1;
            }
        };

        abstract byte of(byte value, int offset);
    }

    @BeforeAll
    static void closeAStore() throws Exception {
        MemoryStorage storage = new MemoryStorage();
        try (Engine store = open(storage, Scheduler.THREADS)) {
            fill(store);
        }
        image = storage.image();
        anatomy = StoreAnatomy.of(image);
        map = StoreMap.of(image, anatomy);
    }

    /** Opens a store with the smallest segments for a value of more than one block. */
    private static Engine open(MemoryStorage storage, Scheduler threads) throws IOException {
        StoreConfig config = StoreConfig.builder(Path.of("small"))
                .maxValueBytes(BIG_VALUE_BYTES)
                .logBufferBytes(3 * Blocks.BLOCK_BYTES)
                .logSegmentBytes(4 * Blocks.BLOCK_BYTES)
                .heapSegmentBytes(3 * Blocks.BLOCK_BYTES)
                .checkpointFloorBytes(1L << 30)
                .build();
        return Engine.open(config, storage, System::nanoTime, threads);
    }

    /**
     * Writes values to two heap segments with free space between them and, after the older checkpoint, a frame that
     * skips a block.
     */
    private static void fill(Engine store) {
        for (int i = 0; i < 3; i++) {
            await(store.append(1, bytes(10 + i, 1)));
        }
        await(store.append(9, bytes(40, 9)));
        store.checkpoint();
        await(store.append(-2, bytes(33, 2)));
        await(store.append(3, bytes(BIG_VALUE_BYTES, 3)));
        await(store.append(4, bytes(BIG_VALUE_BYTES, 4)));
        await(store.append(7, bytes(BIG_VALUE_BYTES, 7)));
        told(callback -> store.trim(1, 1, callback));
        told(callback -> store.delete(9, callback));
        told(callback -> store.trim(3, 1, callback));
        await(store.append(3, bytes(0, 1)));
        await(store.append(5, bytes(50, 5)));
    }

    @Test
    void theStoreHasWhatTheSentenceIsAbout() {
        assertThat(anatomy.checkpoints()).hasSize(2);
        assertThat(anatomy.replayed()).isEmpty();
        assertThat(anatomy.entries())
                .extracting(StoreAnatomy.HeapEntry::file)
                .contains(FileNames.HEAP.of(0), FileNames.HEAP.of(1));
        for (Kind kind : List.of(Kind.CHECKPOINT, Kind.HEADER, Kind.FRAME, Kind.ENTRY)) {
            assertThat(map.used()).extracting(place -> place.area().kind()).contains(kind);
        }
        assertThat(anatomy.frames().stream().anyMatch(EveryByteTest::skippedABlock))
                .as("a frame that skipped the rest of a segment")
                .isTrue();
    }

    private static boolean skippedABlock(StoreAnatomy.Frame frame) {
        int at = anatomy.frames().indexOf(frame);
        StoreAnatomy.Frame before = at == 0 ? frame : anatomy.frames().get(at - 1);
        return !before.file().equals(frame.file()) && Blocks.roundUp(before.end()) < image.length(before.file());
    }

    /** Adjacent bytes of one file: one used byte, or some unused ones. */
    private record Bytes(String file, int from, int to, Area area) {

        /** Returns the file with these bytes changed, or null if that changes nothing. */
        byte[] killed(byte[] bytes, Kill kill) {
            byte[] killed = bytes.clone();
            boolean changed = false;
            for (int i = from; i < to; i++) {
                killed[i] = kill.of(bytes[i], i);
                changed |= killed[i] != bytes[i];
            }
            return changed ? killed : null;
        }

        String problemWith(List<CaravanException> faults) {
            if (area.kind() == Kind.UNUSED) {
                return faults.isEmpty() ? null : "is not used, and verify finds " + faults;
            }
            boolean named = faults.stream().anyMatch(fault -> area.isNamedBy(fault, file));
            boolean onlyIt =
                    faults.stream().allMatch(fault -> fault.getMessage().contains(file));
            return named && onlyIt ? null : "verify finds " + faults;
        }
    }

    private static List<Bytes> everyByte() {
        List<Bytes> all = new ArrayList<>();
        for (String file : image.files().keySet()) {
            int at = 0;
            while (at < image.length(file)) {
                Area area = map.areaOf(file, at);
                int end = at + 1;
                while (area.kind() == Kind.UNUSED
                        && end < Math.min(at + UNUSED_TOGETHER, image.length(file))
                        && map.areaOf(file, end).kind() == Kind.UNUSED) {
                    end++;
                }
                all.add(new Bytes(file, at, end, area));
                at = end;
            }
        }
        return all;
    }

    @Test
    @Tag("rounds")
    void everyByteOfAClosedStoreIsUnusedOrNamed() {
        List<Bytes> all = everyByte();
        long bytes = all.stream().mapToLong(some -> some.to() - some.from()).sum();
        assertThat(bytes)
                .isEqualTo(image.files().values().stream()
                        .mapToLong(file -> file.length)
                        .sum());
        Seeds.forEach(1, seed -> kill(Rounds.oneIn(QUICK_SHARE, all, seed)));
    }

    private static void kill(List<Bytes> all) {
        Queue<String> failures = new ConcurrentLinkedQueue<>();
        LOGGER.info("{} times some bytes killed", all.size());
        all.parallelStream().forEach(some -> {
            for (Kill kill : Kill.values()) {
                String problem = problemOf(some, kill);
                if (problem != null && failures.size() < SHOWN_FAILURES) {
                    failures.add(kill + " " + some + ": " + problem);
                }
            }
        });
        assertThat(failures).isEmpty();
    }

    private static String problemOf(Bytes some, Kill kill) {
        byte[] killed = some.killed(image.bytes(some.file()), kill);
        if (killed == null) {
            return null;
        }
        try {
            DirectoryImage damaged = image.with(some.file(), killed);
            boolean inCheckpoint = some.area().kind() == Kind.CHECKPOINT;
            String problem = inCheckpoint ? some.problemWith(Faults.ofCheckpoint(damaged, some.file())) : null;
            boolean whole = !inCheckpoint || some.from() % WHOLE_STEP == kill.ordinal();
            return problem == null && whole ? some.problemWith(Faults.of(damaged)) : problem;
        } catch (IOException | RuntimeException thrown) {
            return "verify throws " + thrown;
        }
    }

    @Test
    void allUnusedBytesOfAClosedStoreTogetherAreHarmless() {
        Seeds.forEach(8, seed -> {
            Random random = new Random(seed);
            DirectoryImage damaged = image;
            for (String file : image.files().keySet()) {
                byte[] bytes = image.bytes(file).clone();
                for (int i = 0; i < bytes.length; i++) {
                    if (map.areaOf(file, i).kind() == Kind.UNUSED) {
                        bytes[i] = (byte) random.nextInt();
                    }
                }
                damaged = damaged.with(file, bytes);
            }
            assertThat(Faults.of(damaged)).isEmpty();
        });
    }

    // An open store

    @Test
    @Tag("rounds")
    void whatAnOpenStoreNeedsIsNamedWhileItIsOpen() {
        Seeds.forEach(1, EveryByteTest::damageAnOpenStore);
    }

    private static void damageAnOpenStore(long seed) throws IOException {
        MemoryStorage storage = new MemoryStorage();
        WatchedScheduler threads = new WatchedScheduler();
        try (Engine store = open(storage, threads)) {
            fill(store);
            store.checkpoint();
            append(store, 6, "behind the newest checkpoint", "and the last");
            threads.awaitRest();
            DirectoryImage now = storage.image();
            StoreMap open = StoreMap.ofOpen(now, StoreAnatomy.of(now));
            for (StoreMap.Place place : Rounds.oneIn(4, open.used(), seed)) {
                Area area = place.area();
                for (int at : new int[] {area.start(), (area.start() + area.end()) / 2, area.end() - 1}) {
                    assertNamedWhileOpen(store, storage, new Bytes(place.file(), at, at + 1, area));
                }
            }
            for (String file : now.files().keySet()) {
                for (int at = 0; at < now.length(file); at++) {
                    if (open.areaOf(file, at).kind() == Kind.UNUSED) {
                        storage.invert(file, at);
                    }
                }
            }
            assertThat(store.verify(VerifyReport.Progress.NONE).faults()).isEmpty();
            append(store, 6, "goes on");
            assertThat(texts(store, 6, 2)).containsExactly("2:goes on");
        }
        assertThat(Faults.of(storage.image())).isEmpty();
    }

    private static void assertNamedWhileOpen(Engine store, MemoryStorage storage, Bytes one) {
        storage.invert(one.file(), one.from());
        List<CaravanException> faults = store.verify(VerifyReport.Progress.NONE).faults();
        storage.invert(one.file(), one.from());
        assertThat(one.problemWith(faults)).as(one.toString()).isNull();
    }
}
