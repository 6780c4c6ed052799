package io.caravan.engine;

import static io.caravan.engine.FaultyStore.CHECKPOINT;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.caravan.CaravanException;
import io.caravan.CorruptStoreException;
import io.caravan.StoreDirectoryException;
import io.caravan.format.Blocks;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.RecordLayout;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.FaultStorage.Call;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.SortedMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Invariant 7: recovery cuts off only a torn tail. It rejects all other damage, and leaves every file unchanged. (Other
 * tests check the message for each kind of damage.)
 */
@LongTimeout
class Invariant07RejectionsChangeNothingTest {

    /**
     * Returns a disk after a power cut: two checkpoints, frames to replay in several segments, and no heap byte fsynced
     * since the newer checkpoint.
     */
    private static MemoryStorage cutOff() {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "a");
            append(store.engine, 1, "b");
            store.engine.checkpoint();
            for (int i = 0; i < 8; i++) {
                append(store.engine, 1, "to be replayed " + i);
            }
            store.awaitProvisioned();
            return store.disk.powerCut();
        }
    }

    static Stream<Arguments> damages() {
        return Stream.of(
                damage("a bad frame with valid ones after it", CorruptStoreException.class, disk -> {
                    ByteBuffer log = disk.bytes(FileNames.LOG.of(1));
                    log.put(Blocks.BLOCK_BYTES + 50, (byte) ~log.get(Blocks.BLOCK_BYTES + 50));
                }),
                damage(
                        "a missing log segment",
                        StoreDirectoryException.class,
                        disk -> disk.remove(FileNames.LOG.of(1))),
                damage(
                        "a missing heap segment",
                        StoreDirectoryException.class,
                        disk -> disk.remove(FileNames.HEAP.of(0))),
                damage(
                        "no whole checkpoint",
                        CorruptStoreException.class,
                        disk -> FaultyStore.files(disk, CHECKPOINT)
                                .forEach(name -> disk.bytes(name)
                                        .put(60, (byte) ~disk.bytes(name).get(60)))),
                damage(
                        "an unknown file",
                        StoreDirectoryException.class,
                        disk -> disk.put("notes.txt", new byte[] {1, 2, 3})));
    }

    private static Arguments damage(String name, Class<?> rejection, Consumer<MemoryStorage> damage) {
        return Arguments.argumentSet(name, rejection, damage);
    }

    @ParameterizedTest
    @MethodSource("damages")
    void rejectedOpenChangesNothing(Class<? extends CaravanException> rejection, Consumer<MemoryStorage> damage) {
        MemoryStorage disk = cutOff();
        damage.accept(disk);
        SortedMap<String, ByteBuffer> before = disk.contents();
        FaultStorage watched = new FaultStorage(disk);
        for (int attempt = 0; attempt < 2; attempt++) {
            assertThat(catchThrowable(() -> Engine.open(FaultyStore.small().build(), watched, System::nanoTime)))
                    .isInstanceOf(rejection);
            assertThat(disk.contents()).isEqualTo(before);
        }
        assertThat(watched.calls(Call::changes)).isEmpty();
    }

    @Test
    void undamagedStoreOpensAndReplays() {
        MemoryStorage disk = cutOff();
        SortedMap<String, ByteBuffer> before = disk.contents();
        try (FaultyStore store = FaultyStore.open(FaultyStore.small().build(), disk)) {
            assertThat(texts(store.engine, 1)).hasSize(10).endsWith("9:to be replayed 7");
            assertThat(disk.contents()).isNotEqualTo(before);
        }
    }

    @Test
    void onlyTornTailIsCutOff() {
        MemoryStorage whole = cutOff();
        List<String> logs = FaultyStore.files(whole, LOG);
        // Ten frames of one block, three in each segment: the last one is the first of the fourth segment.
        String last = logs.get(3);
        int frameEnd =
                Blocks.BLOCK_BYTES + FrameLayout.HEADER_BYTES + RecordLayout.appendBytes("to be replayed 7".length());
        for (int at = Blocks.BLOCK_BYTES; at < frameEnd; at++) {
            MemoryStorage disk = whole.powerCut();
            disk.bytes(last).put(at, (byte) ~disk.bytes(last).get(at));
            try (FaultyStore store = FaultyStore.open(FaultyStore.small().build(), disk)) {
                assertThat(texts(store.engine, 1)).endsWith("8:to be replayed 6");
                assertThat(append(store.engine, 1, "instead")).isEqualTo(9);
            }
        }
    }
}
