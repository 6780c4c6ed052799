package io.caravan;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.awaitWrite;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.engine.Engine;
import io.caravan.engine.Scheduler;
import io.caravan.format.Blocks;
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
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Changes bytes of an open store. {@code verify} reports each change of a used byte with file, offset and, for heap
 * entries, list and sequence. It reports no change of an unused byte. {@link DamageCatalogueTest} changes the bytes of
 * a closed store.
 */
@Timeout(1800)
class EveryByteTest {
    /** The length of a value whose frame takes two blocks and whose entry takes more than half of a heap segment. */
    private static final int BIG_VALUE_BYTES = 4100;

    /** Opens a store with the smallest segments that fit a value of more than one block. */
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
     * Writes values to two heap segments, with free space between the values, and, after the older checkpoint, a frame
     * that skips the last block of a segment.
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
        awaitWrite(callback -> store.trim(1, 1, callback));
        awaitWrite(callback -> store.delete(9, callback));
        awaitWrite(callback -> store.trim(3, 1, callback));
        await(store.append(3, bytes(0, 1)));
        await(store.append(5, bytes(50, 5)));
    }

    @Test
    @Tag("rounds")
    void openStoreReportsDamageToUsedBytesOnly() {
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
            for (Kind kind : List.of(Kind.CHECKPOINT, Kind.HEADER, Kind.FRAME, Kind.ENTRY)) {
                assertThat(open.used()).extracting(place -> place.area().kind()).contains(kind);
            }
            for (StoreMap.Place place : Rounds.oneIn(4, open.used(), seed)) {
                Area area = place.area();
                for (int at : new int[] {area.start(), (area.start() + area.end()) / 2, area.end() - 1}) {
                    assertOnlyItIsNamed(store, storage, place, at);
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

    private static void assertOnlyItIsNamed(Engine store, MemoryStorage storage, StoreMap.Place place, int offset) {
        storage.invert(place.file(), offset);
        List<CaravanException> faults = store.verify(VerifyReport.Progress.NONE).faults();
        storage.invert(place.file(), offset);
        assertThat(faults)
                .as("%s at %d", place, offset)
                .anyMatch(fault -> place.area().isNamedBy(fault, place.file()))
                .allMatch(fault -> fault.getMessage().contains(place.file()));
    }
}
