package io.caravan.testing;

import static io.caravan.testing.CrashStorageTest.filled;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.io.StoreFile;
import io.caravan.testing.CrashStorage.Outcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests an fsync that fails halfway, and the sectors that this fsync did not write. */
class CrashStorageDroppedSectorsTest {
    private static final int SECTOR = CrashFile.SECTOR_BYTES;
    private static final int SEEDS = 300;

    /** A file with three sectors; a failed fsync has dropped the first sector and written the last. */
    private record Dropped(CrashStorage storage, StoreFile file) {
        static Dropped make() throws IOException {
            for (int seed = 0; ; seed++) {
                CrashStorage storage = new CrashStorage(seed);
                StoreFile file = storage.create("a", 3 * SECTOR);
                storage.forceDirectory();
                file.write(filled(1, SECTOR), 0);
                file.write(filled(1, SECTOR), 2 * SECTOR);
                failFsync(storage, file);
                if (durable(storage).equals("001")) {
                    return new Dropped(storage, file);
                }
            }
        }

        void assertLost() throws IOException {
            assertThat(visible(storage)).isEqualTo("101");
            SplittableRandom choices = new SplittableRandom(1);
            storage.writeBack(choices);
            file.force();
            assertThat(durable(storage)).isEqualTo("001");
            for (int i = 0; i < SEEDS; i++) {
                assertThat(visible(storage.powerCut(choices))).isEqualTo("001");
            }
        }
    }

    private static void failFsync(CrashStorage storage, StoreFile file) {
        storage.director(call -> Outcome.FAIL_HALFWAY);
        assertThatThrownBy(file::force).isInstanceOf(IOException.class);
        storage.director(call -> Outcome.PASS);
    }

    private static String visible(CrashStorage storage) {
        return firstBytes(storage.visible("a"));
    }

    private static String durable(CrashStorage storage) {
        return firstBytes(storage.durable("a"));
    }

    private static String firstBytes(byte[] bytes) {
        StringBuilder first = new StringBuilder();
        for (int from = 0; from < bytes.length; from += SECTOR) {
            first.append(bytes[from]);
        }
        return first.toString();
    }

    @Test
    void fsyncFailingHalfwayWritesAnySubsetOfSectors() throws IOException {
        Set<String> outcomes = new HashSet<>();
        for (int seed = 0; seed < SEEDS; seed++) {
            CrashStorage storage = new CrashStorage(seed);
            StoreFile file = storage.create("a", 3 * SECTOR);
            file.write(filled(1, SECTOR), 0);
            file.write(filled(1, SECTOR), 2 * SECTOR);
            failFsync(storage, file);
            assertThat(visible(storage)).isEqualTo("101");
            outcomes.add(durable(storage));
        }
        assertThat(outcomes).containsExactlyInAnyOrder("000", "001", "100", "101");
    }

    @Test
    void droppedSectorIsVisibleButLost() throws IOException {
        Dropped.make().assertLost();
    }

    @Test
    void blockCanBeGarbledAfterFailedFsync() throws IOException {
        CrashStorage storage = Dropped.make().storage;
        SplittableRandom choices = new SplittableRandom(1);
        int garbled = 0;
        for (int i = 0; i < SEEDS; i++) {
            garbled += storage.powerCut(choices).survived().contains("block 0 garbled") ? 1 : 0;
        }
        assertThat(garbled).isBetween(SEEDS / 8, SEEDS / 2);
    }

    @Test
    void droppedSectorStaysLostAfterKill() throws IOException {
        CrashStorage killed = Dropped.make().storage.processKill();
        killed.open("a").force();
        assertThat(durable(killed)).isEqualTo("001");
    }

    @Test
    void droppedSectorStaysLostAfterWritesElsewhere() throws IOException {
        Dropped dropped = Dropped.make();
        dropped.file.write(ByteBuffer.wrap(new byte[] {1}), SECTOR + 1);
        dropped.file.write(filled(1, SECTOR), 2 * SECTOR);
        dropped.assertLost();
    }

    @Test
    void droppedSectorStaysLostAfterMapping() throws IOException {
        Dropped dropped = Dropped.make();
        assertThat(dropped.file.map().buffer().get(0)).isEqualTo((byte) 1);
        dropped.assertLost();
    }

    @Test
    void droppedSectorStaysLostAfterRot() throws IOException {
        Dropped dropped = Dropped.make();
        dropped.storage.rot("a", 100, 1);
        dropped.assertLost();
    }

    @Test
    void rewritingSameBytesMakesDroppedSectorDurable() throws IOException {
        Dropped dropped = Dropped.make();
        dropped.file.write(ByteBuffer.wrap(new byte[] {1}), SECTOR - 1);
        dropped.file.force();
        assertThat(dropped.storage.durable("a")).isEqualTo(dropped.storage.visible("a"));
    }

    @Test
    void onceDroppedBytesAreDurableWhenRewrittenLater() throws IOException {
        Dropped dropped = Dropped.make();
        dropped.file.write(filled(2, SECTOR), 0);
        dropped.file.force();
        dropped.file.write(filled(1, SECTOR), 0);
        dropped.file.force();
        assertThat(durable(dropped.storage)).isEqualTo("101");
    }

    @Test
    void sectorsDroppedByTwoFailedFsyncsStayLost() throws IOException {
        Dropped dropped = Dropped.make();
        dropped.file.write(filled(3, SECTOR), SECTOR);
        failFsync(dropped.storage, dropped.file);
        String durable = durable(dropped.storage);
        assertThat(durable).isIn("001", "031");
        dropped.file.force();
        assertThat(durable(dropped.storage)).isEqualTo(durable);
    }

    @Test
    void grownSizeIsDurableAndDroppedSectorsAreZeros() throws IOException {
        Set<String> outcomes = new HashSet<>();
        for (int seed = 0; seed < SEEDS; seed++) {
            CrashStorage storage = new CrashStorage(seed);
            StoreFile file = storage.create("a", 0);
            storage.forceDirectory();
            file.write(filled(1, SECTOR), 0);
            file.write(filled(1, SECTOR), SECTOR);
            failFsync(storage, file);
            file.force();
            outcomes.add(durable(storage));
        }
        assertThat(outcomes).containsExactlyInAnyOrder("00", "01", "10", "11");
    }
}
