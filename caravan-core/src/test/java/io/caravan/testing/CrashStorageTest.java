package io.caravan.testing;

import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.format.FileNames;
import io.caravan.io.MappedFile;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests the storage without power cuts: both layers of bytes, mappings, growth, write-back, kills, and bit rot. */
class CrashStorageTest {
    private static final int SECTOR = CrashFile.SECTOR_BYTES;
    private static final int SEEDS = 300;

    private final CrashStorage storage = new CrashStorage(0);

    private StoreFile create(String name, int size) throws IOException {
        StoreFile file = storage.create(name, size);
        storage.forceDirectory();
        return file;
    }

    static ByteBuffer ones(int count) {
        return filled(1, count);
    }

    static ByteBuffer filled(int with, int count) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) with);
        return ByteBuffer.wrap(bytes);
    }

    @Test
    void writeIsVisibleImmediatelyAndDurableAfterFsync() throws IOException {
        StoreFile file = create("a", 2048);
        ByteBuffer source = ByteBuffer.wrap(bytes("xyz"));
        file.write(source, 600);
        assertThat(source.hasRemaining()).isFalse();
        assertThat(read(file, 600, 3)).isEqualTo(bytes("xyz"));
        assertThat(storage.visible("a")).containsSequence(bytes("xyz"));
        assertThat(storage.durable("a")).containsOnly(0);
        file.force();
        assertThat(storage.durable("a")).isEqualTo(storage.visible("a"));
    }

    private static byte[] read(StoreFile file, long position, int count) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(count);
        int read = file.read(target, position);
        assertThat(read).isEqualTo(target.position());
        return Arrays.copyOf(target.array(), read);
    }

    @Test
    void readStopsAtEndOfFile() throws IOException {
        StoreFile file = create("a", 10);
        assertThat(file.size()).isEqualTo(10);
        assertThat(storage.size("a")).isEqualTo(10);
        assertThat(read(file, 0, 20)).hasSize(10);
        assertThat(read(file, 7, 20)).hasSize(3);
        assertThat(read(file, 10, 20)).isEmpty();
        assertThat(read(file, 4L << 30, 20)).isEmpty();
    }

    @Test
    void mappingShowsEarlierAndLaterWrites() throws IOException {
        StoreFile file = create("a", 2048);
        file.write(ones(1), 100);
        MappedFile mapping = file.map();
        MappedFile another = file.map();
        file.write(ones(1), 1500);
        for (MappedFile one : List.of(mapping, another)) {
            assertThat(one.buffer().get(100)).isEqualTo((byte) 1);
            assertThat(one.buffer().get(1500)).isEqualTo((byte) 1);
        }
        assertThat(storage.durable("a")).containsOnly(0);
        file.force();
        assertThat(storage.durable("a")).isEqualTo(storage.visible("a"));
    }

    @Test
    void mappingIsOneReadOnlyLittleEndianBuffer() throws IOException {
        MappedFile mapping = create("a", 2048).map();
        assertThat(mapping.buffer().order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
        assertThat(mapping.buffer().capacity()).isEqualTo(2048);
        assertThat(mapping.buffer()).isSameAs(mapping.buffer());
        assertThat(mapping.buffer().isReadOnly()).isTrue();
    }

    @Test
    void mappingOutlivesCloseRenameAndDelete() throws IOException {
        StoreFile file = create("a", 2048);
        MappedFile mapping = file.map();
        file.close();
        storage.rename("a", "b");
        StoreFile renamed = storage.open("b");
        renamed.write(ones(1), 0);
        assertThat(mapping.buffer().get(0)).isEqualTo((byte) 1);
        storage.delete("b");
        renamed.write(ones(1), 1);
        assertThat(mapping.buffer().get(1)).isEqualTo((byte) 1);
    }

    @Test
    void memoryContainsGarbageAfterLastUnmap() throws IOException {
        StoreFile file = create("a", 10);
        file.write(ones(10), 0);
        MappedFile mapping = file.map();
        MappedFile another = file.map();
        another.unmap();
        assertThatIllegalStateException().isThrownBy(another::unmap);
        assertThat(mapping.buffer().get(7)).isEqualTo((byte) 1);
        mapping.unmap();
        assertThat(mapping.buffer().get(7)).isNotEqualTo((byte) 1);
        assertThat(another.buffer().get(7)).isNotEqualTo((byte) 1);
        assertThat(storage.visible("a")).containsOnly(1);
        assertThat(file.map().buffer().get(7)).isEqualTo((byte) 1);
    }

    @Test
    void closedFileRejectsCalls() throws IOException {
        StoreFile file = create("a", 2048);
        file.close();
        file.close();
        assertThatThrownBy(() -> file.read(ByteBuffer.allocate(1), 0)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> file.write(ones(1), 0)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(file::force).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(file::map).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void writePastEndGrowsFileDurablyAfterFsync() throws IOException {
        StoreFile file = create("a", 0);
        file.write(ones(300), 0);
        file.write(ones(1000), 700);
        assertThat(file.size()).isEqualTo(1700);
        assertThat(Arrays.copyOfRange(storage.visible("a"), 300, 700)).containsOnly(0);
        assertThat(storage.durable("a")).isEmpty();
        file.force();
        assertThat(storage.durable("a")).isEqualTo(storage.visible("a")).hasSize(1700);
    }

    @Test
    void mappedFileCannotGrow() throws IOException {
        StoreFile file = create("a", 10);
        MappedFile mapping = file.map();
        assertThatIllegalStateException().isThrownBy(() -> file.write(ones(2), 9));
        mapping.unmap();
        file.write(ones(2), 9);
        assertThat(file.size()).isEqualTo(11);
    }

    @Test
    void newFileContainsDurableZeros() throws IOException {
        storage.create("a", 5000);
        assertThat(storage.durable("a")).hasSize(5000).containsOnly(0);
        assertThat(storage.visible("a")).hasSize(5000).containsOnly(0);
    }

    @Test
    void nameChangesAreVisibleImmediately() throws IOException {
        storage.create("a", 1);
        storage.create("b", 2);
        storage.rename("a", "c");
        assertThat(storage.list()).containsExactlyInAnyOrder("b", "c");
        storage.rename("b", "c");
        assertThat(storage.list()).containsExactly("c");
        assertThat(storage.size("c")).isEqualTo(2);
        storage.create("c", 3);
        assertThat(storage.open("c").size()).isEqualTo(3);
        storage.delete("c");
        assertThat(storage.list()).isEmpty();
    }

    @Test
    void missingNameIsRejected() {
        assertThatThrownBy(() -> storage.open("a")).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> storage.rename("a", "b")).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> storage.delete("a")).isInstanceOf(NoSuchFileException.class);
        assertThatIllegalArgumentException().isThrownBy(() -> storage.visible("a"));
    }

    @Test
    void writeBackPersistsAnySubsetOfSectors() throws IOException {
        BitSet outcomes = new BitSet();
        for (int seed = 0; seed < SEEDS; seed++) {
            CrashStorage one = new CrashStorage(0);
            StoreFile file = one.create("a", 4 * SECTOR);
            file.write(ones(2 * SECTOR), 0);
            file.write(ones(1), 3 * SECTOR + 7);
            byte[] before = one.visible("a");
            one.writeBack(new SplittableRandom(seed));
            assertThat(one.visible("a")).isEqualTo(before);
            outcomes.set(newSectors(one.durable("a"), before, new byte[4 * SECTOR]));
        }
        assertThat(outcomes.cardinality())
                .as("subsets of three sectors that differ")
                .isEqualTo(8);
    }

    /** Returns a bit set of the sectors that are new, and checks that all others are old. */
    private static int newSectors(byte[] actual, byte[] visible, byte[] old) {
        int bits = 0;
        for (int sector = 0; sector * SECTOR < actual.length; sector++) {
            int from = sector * SECTOR;
            int to = Math.min(from + SECTOR, actual.length);
            boolean isOld = Arrays.equals(actual, from, to, old, from, to);
            boolean isNew = Arrays.equals(actual, from, to, visible, from, to);
            assertThat(isOld || isNew).as("sector %d is old or new", sector).isTrue();
            bits |= isNew && !isOld ? 1 << sector : 0;
        }
        return bits;
    }

    @Test
    void repeatedWriteBackMakesEverythingDurable() throws IOException {
        create("b", 2 * SECTOR).write(ones(10), SECTOR - 5);
        StoreFile grown = create("a", 100);
        grown.write(ones(3 * SECTOR), 50);
        SplittableRandom choices = new SplittableRandom(1);
        for (int i = 0; i < 200; i++) {
            storage.writeBack(choices);
            assertThat(storage.durable("a").length).isBetween(100, 50 + 3 * SECTOR);
        }
        assertThat(storage.durable("a")).isEqualTo(storage.visible("a"));
        assertThat(storage.durable("b")).isEqualTo(storage.visible("b"));
        new CrashStorage(0).writeBack(choices);
    }

    @Test
    void processKillPreservesVisibleAndDurableState() throws IOException {
        StoreFile file = create("a", 4 * SECTOR);
        MappedFile mapping = file.map();
        file.write(ones(1), 0);
        file.force();
        file.write(ones(1), 3 * SECTOR);
        StoreFile grown = create("grown", 0);
        grown.write(ones(10), 0);
        storage.create("b", 1);
        storage.rename("b", "c");

        CrashStorage left = storage.processKill();
        file.write(ones(1), 2 * SECTOR);
        assertThat(mapping.buffer().get(2 * SECTOR)).isEqualTo((byte) 1);
        file.force();
        grown.write(ByteBuffer.wrap(bytes("other")), 0);
        storage.delete("c");

        byte[] fsynced = new byte[4 * SECTOR];
        fsynced[0] = 1;
        byte[] written = fsynced.clone();
        written[3 * SECTOR] = 1;
        assertThat(left.visible("a")).isEqualTo(written);
        assertThat(left.durable("a")).isEqualTo(fsynced);
        assertThat(left.durable("grown")).isEmpty();
        assertThat(left.visible("grown")).isEqualTo(ones(10).array());
        assertThat(left.list()).containsExactlyInAnyOrder("a", "grown", "c");
        left.open("a").force();
        assertThat(left.durable("a")).isEqualTo(written);
        left.open("a").write(ones(1), 9);
        assertThat(storage.visible("a")[9]).isZero();
        assertThat(storage.durable("a")[9]).isZero();
    }

    @Test
    void unsyncedNamesStayUnsyncedAfterKill() throws IOException {
        create("a", 1);
        storage.rename("a", "b");
        storage.create("c", 1);
        CrashStorage killed = storage.processKill();
        storage.forceDirectory();
        BitSet outcomes = new BitSet();
        for (int seed = 0; seed < SEEDS; seed++) {
            CrashStorage cut = killed.powerCut(new SplittableRandom(seed));
            outcomes.set(cut.list().contains("c") ? 2 : cut.list().contains("b") ? 1 : 0);
        }
        assertThat(outcomes.cardinality()).isEqualTo(3);
    }

    @Test
    void rotFlipsBitsInBothLayers() throws IOException {
        String name = FileNames.HEAP.of(0);
        StoreFile file = create(name, 2 * SECTOR);
        MappedFile mapping = file.map();
        file.write(ones(1), 7);
        storage.rot(name, 7, 0x80);
        storage.rot(name, SECTOR + 1, 0x06);
        assertThat(mapping.buffer().get(7)).isEqualTo((byte) 0x81);
        assertThat(storage.durable(name)[7]).isEqualTo((byte) 0x80);
        assertThat(storage.visible(name)[SECTOR + 1]).isEqualTo((byte) 6);
        assertThat(storage.durable(name)[SECTOR + 1]).isEqualTo((byte) 6);
        for (int seed = 0; seed < SEEDS; seed++) {
            assertThat(storage.powerCut(new SplittableRandom(seed)).visible(name)[SECTOR + 1])
                    .isEqualTo((byte) 6);
        }
    }

    @Test
    void rotOfUnsyncedGrowthIsVisibleButNotDurable() throws IOException {
        StoreFile file = create("a", 0);
        file.write(ones(10), 0);
        storage.rot("a", 9, 0xff);
        assertThat(storage.visible("a")[9]).isEqualTo((byte) 0xfe);
        assertThat(storage.durable("a")).isEmpty();
    }

    @Test
    void rotDoesNotAffectOtherStorages() throws IOException {
        create("a", SECTOR);
        CrashStorage cut = storage.powerCut(new SplittableRandom(1));
        CrashStorage killed = storage.processKill();
        cut.rot("a", 1, 1);
        killed.rot("a", 2, 1);
        storage.rot("a", 3, 1);
        assertThat(Arrays.copyOf(storage.visible("a"), 4)).containsExactly(0, 0, 0, 1);
        assertThat(Arrays.copyOf(cut.visible("a"), 4)).containsExactly(0, 1, 0, 0);
        assertThat(Arrays.copyOf(killed.visible("a"), 4)).containsExactly(0, 0, 1, 0);
        assertThat(cut.durable("a")).isEqualTo(cut.visible("a"));
    }
}
