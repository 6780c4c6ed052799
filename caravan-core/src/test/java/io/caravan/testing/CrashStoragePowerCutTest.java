package io.caravan.testing;

import static io.caravan.testing.CrashStorageTest.filled;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.format.FileNames;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests every sentence about power cuts in the documentation of {@link CrashStorage}, with many seeds. */
class CrashStoragePowerCutTest {
    private static final int SECTOR = CrashFile.SECTOR_BYTES;
    private static final int BLOCK = CrashFile.BLOCK_BYTES;
    private static final int SEEDS = 4000;
    private static final byte NEW = 1;
    private static final byte OLD = 2;
    /** A file in which a block becomes garbage only if one write covered it completely. */
    private static final String HEAP = FileNames.HEAP.of(0);

    private final CrashStorage storage = new CrashStorage(0);

    /** Creates a file that consists of old bytes, and makes its bytes and its name durable. */
    private StoreFile old(String name, int size) throws IOException {
        StoreFile file = storage.create(name, size);
        file.write(filled(OLD, size), 0);
        file.force();
        storage.forceDirectory();
        return file;
    }

    private void forEachCut(Consumer<CrashStorage> check) {
        for (int seed = 0; seed < SEEDS; seed++) {
            CrashStorage cut = storage.powerCut(new SplittableRandom(seed));
            try {
                check.accept(cut);
            } catch (AssertionError failure) {
                throw new AssertionError("seed " + seed + ", " + cut.survived() + "\n" + failure.getMessage(), failure);
            }
        }
    }

    private static void writeSector(StoreFile file, int sector) throws IOException {
        file.write(filled(NEW, SECTOR), (long) sector * SECTOR);
    }

    /**
     * Returns one character for each sector: 'o' old, 'n' new, 't' new and then old, 'r' old and then new, '?' neither.
     */
    private static String sectors(byte[] bytes) {
        StringBuilder kinds = new StringBuilder();
        for (int from = 0; from < bytes.length; from += SECTOR) {
            kinds.append(kind(Arrays.copyOfRange(bytes, from, Math.min(from + SECTOR, bytes.length))));
        }
        return kinds.toString();
    }

    private static char kind(byte[] sector) {
        int changes = 0;
        boolean foreign = false;
        for (int i = 0; i < sector.length; i++) {
            foreign |= sector[i] != OLD && sector[i] != NEW;
            changes += i > 0 && sector[i] != sector[i - 1] ? 1 : 0;
        }
        if (foreign || changes > 1) {
            return '?';
        }
        if (changes == 0) {
            return sector[0] == OLD ? 'o' : 'n';
        }
        return sector[0] == OLD ? 'r' : 't';
    }

    @Test
    void eachChangedSectorIsLostOrKeptAndAtMostOneIsTorn() throws IOException {
        StoreFile file = old(HEAP, 6 * SECTOR);
        for (int sector : new int[] {0, 1, 3, 5}) {
            writeSector(file, sector);
        }
        Map<String, Integer> outcomes = new HashMap<>();
        forEachCut(cut -> {
            String sectors = sectors(cut.visible(HEAP));
            assertThat(sectors).matches("(?!.*[tr].*[tr])[ontr][ontr]o[ontr]o[ontr]");
            outcomes.merge(sectors, 1, Integer::sum);
        });
        assertThat(outcomes).hasSize(16 + 4 * 2 * 8);
        assertThat(outcomes.get("nnonon")).as("all kept").isGreaterThan(SEEDS / 16);
        assertThat(outcomes.get("oooooo")).as("none kept").isGreaterThan(SEEDS / 16);
    }

    @Test
    void keepsPrefixSuffixOrSubsetOfManySectors() throws IOException {
        int count = 40;
        StoreFile file = old(HEAP, count * SECTOR);
        for (int sector = 0; sector < count; sector++) {
            writeSector(file, sector);
        }
        Set<String> outcomes = new HashSet<>();
        forEachCut(cut -> {
            String sectors = sectors(cut.visible(HEAP));
            int kept = (int) sectors.chars().filter(kind -> kind == 'n').count();
            outcomes.add(
                    kept == 0 || kept == count
                            ? sectors.substring(0, 1)
                            : sectors.matches("n+o+")
                                    ? "prefix"
                                    : sectors.matches("o+n+")
                                            ? "suffix"
                                            : kept < 10 ? "few" : kept > 30 ? "most" : "half");
        });
        assertThat(outcomes).contains("n", "o", "prefix", "suffix", "few", "half", "most");
    }

    @Test
    void tearCanOccurAtAnyChangedByte() throws IOException {
        old(HEAP, SECTOR).write(filled(NEW, 3), 100);
        Set<String> outcomes = new TreeSet<>();
        forEachCut(cut -> outcomes.add(Arrays.toString(Arrays.copyOfRange(cut.visible(HEAP), 100, 103))));
        assertThat(outcomes)
                .containsExactly("[1, 1, 1]", "[1, 1, 2]", "[1, 2, 2]", "[2, 1, 1]", "[2, 2, 1]", "[2, 2, 2]");
    }

    @Test
    void neighborsInPartlyWrittenHeapBlockSurvive() throws IOException {
        StoreFile file = old(HEAP, 3 * BLOCK);
        file.write(filled(NEW, 300), 100);
        file.write(filled(NEW, 1), SECTOR + 511);
        int from = BLOCK - 200;
        int to = 2 * BLOCK + 200;
        file.write(filled(NEW, to - from), from);
        forEachCut(cut -> {
            byte[] bytes = cut.visible(HEAP);
            Arrays.fill(bytes, 100, 400, OLD);
            bytes[SECTOR + 511] = OLD;
            Arrays.fill(bytes, from, to, OLD);
            assertThat(bytes).isEqualTo(filled(OLD, bytes.length).array());
        });
    }

    @Test
    void fsyncedBytesSurvive() throws IOException {
        StoreFile file = old(HEAP, 4 * SECTOR);
        writeSector(file, 0);
        file.map();
        writeSector(file, 2);
        file.force();
        writeSector(file, 3);
        forEachCut(cut -> assertThat(sectors(cut.visible(HEAP))).matches("nonn|nono|nont|nonr"));
    }

    @Test
    void writtenBackBytesReplaceOldBytes() throws IOException {
        StoreFile file = old(HEAP, SECTOR);
        writeSector(file, 0);
        SplittableRandom choices = new SplittableRandom(1);
        while (storage.durable(HEAP)[0] == OLD) {
            storage.writeBack(choices);
        }
        byte newer = 3;
        file.write(filled(newer, SECTOR), 0);
        Set<Byte> outcomes = new HashSet<>();
        forEachCut(cut -> {
            assertThat(cut.visible(HEAP)).doesNotContain(OLD);
            outcomes.add(cut.visible(HEAP)[0]);
        });
        assertThat(outcomes).containsExactlyInAnyOrder(NEW, newer);
    }

    @Test
    void filesLoseSectorsIndependently() throws IOException {
        writeSector(old("a", SECTOR), 0);
        writeSector(old("b", SECTOR), 0);
        Set<String> outcomes = new HashSet<>();
        forEachCut(cut -> outcomes.add(sectors(cut.visible("a")) + sectors(cut.visible("b"))));
        assertThat(outcomes).contains("oo", "on", "no", "nn");
    }

    @Test
    void unsyncedGrowthIsPartialWithZerosWhereLost() throws IOException {
        int before = 700;
        int from = 650;
        int after = 5 * SECTOR + 10;
        StoreFile file = old("a", before);
        file.write(filled(NEW, after - from), from);
        Set<Integer> sizes = new TreeSet<>();
        Set<Byte> lastBytes = new HashSet<>();
        boolean[] unforeseen = {false};
        forEachCut(cut -> {
            if (cut.survived().contains("garbled")) {
                return;
            }
            byte[] bytes = cut.visible("a");
            assertThat(bytes.length).isBetween(before, after);
            assertThat(Arrays.copyOf(bytes, from)).containsOnly(OLD);
            for (int i = from; i < bytes.length; i++) {
                unforeseen[0] |= bytes[i] != NEW && bytes[i] != (i < before ? OLD : 0);
            }
            sizes.add(bytes.length);
            lastBytes.add(bytes[bytes.length - 1]);
        });
        assertThat(unforeseen[0]).isFalse();
        assertThat(sizes).contains(before, after).hasSizeGreaterThan(50);
        assertThat(lastBytes).containsExactlyInAnyOrder((byte) 0, NEW, OLD);
    }

    @Test
    void writtenBlockCanBeGarbledEvenIfBytesAreUnchanged() throws IOException {
        StoreFile file = old("a", 4 * BLOCK);
        StoreFile other = old("b", 2 * BLOCK);
        file.write(filled(OLD, 2), BLOCK - 1);
        file.write(filled(OLD, 1), 3 * BLOCK);
        other.write(filled(OLD, 1), 0);
        Map<String, Integer> outcomes = new HashMap<>();
        forEachCut(cut -> outcomes.merge(
                garbledBlocks(cut.visible("a")) + " " + garbledBlocks(cut.visible("b")), 1, Integer::sum));
        assertThat(outcomes).containsOnlyKeys("0000 00", "1000 00", "0100 00", "0001 00", "0000 10");
        assertThat(SEEDS - outcomes.get("0000 00")).as("garbled cuts").isBetween(SEEDS / 5, SEEDS / 3);
    }

    @Test
    void onlyFullyWrittenBlocksOfHeapSegmentCanBeGarbled() throws IOException {
        StoreFile file = old(HEAP, 7 * BLOCK);
        file.write(filled(OLD, 3 * BLOCK), BLOCK / 2);
        file.write(filled(OLD, BLOCK), 4 * BLOCK);
        file.write(filled(OLD, BLOCK - 1), 5 * BLOCK);
        file.write(filled(OLD, 1), 6 * BLOCK - 1);
        file.write(filled(OLD, 1), 6 * BLOCK + 1);
        String half = FileNames.HEAP.temporary(1);
        old(half, BLOCK).write(filled(OLD, 1), 0);
        Set<String> outcomes = new HashSet<>();
        forEachCut(cut -> outcomes.add(garbledBlocks(cut.visible(HEAP)) + " " + garbledBlocks(cut.visible(half))));
        assertThat(outcomes)
                .as("blocks 1, 2 and 4, and that of a segment which is still being made")
                .containsExactlyInAnyOrder("0000000 0", "0100000 0", "0010000 0", "0000100 0", "0000000 1");
    }

    /** Returns the numbers of the blocks that do not consist of old bytes, and checks that these blocks are random. */
    private static String garbledBlocks(byte[] bytes) {
        StringBuilder garbled = new StringBuilder();
        for (int from = 0; from < bytes.length; from += BLOCK) {
            byte[] block = Arrays.copyOfRange(bytes, from, from + BLOCK);
            BitSet values = new BitSet();
            for (byte value : block) {
                values.set(value & 0xff);
            }
            assertThat(values.cardinality() == 1 || values.cardinality() > 200).isTrue();
            garbled.append(values.cardinality() == 1 ? '0' : '1');
        }
        return garbled.toString();
    }

    @Test
    void blockCanBeGarbledUntilFsyncDespiteWriteBackOrKill() throws IOException {
        StoreFile file = old("a", BLOCK);
        file.write(filled(NEW, BLOCK), 0);
        SplittableRandom choices = new SplittableRandom(1);
        while (!Arrays.equals(storage.durable("a"), storage.visible("a"))) {
            storage.writeBack(choices);
        }
        CrashStorage killed = storage.processKill();
        file.force();
        assertThat(garbledCuts(killed)).isPositive();
        assertThat(garbledCuts(storage)).isZero();
    }

    private static int garbledCuts(CrashStorage storage) {
        int garbled = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            CrashStorage cut = storage.powerCut(new SplittableRandom(seed));
            garbled += Arrays.equals(cut.visible("a"), storage.visible("a")) ? 0 : 1;
        }
        return garbled;
    }

    @Test
    void survivingStorageIsCleanAndIndependent() throws IOException {
        StoreFile file = old(HEAP, 4 * SECTOR);
        old("clean", SECTOR);
        file.map();
        writeSector(file, 1);
        storage.create("b", 10);
        byte[] visible = storage.visible(HEAP);
        byte[] durable = storage.durable(HEAP);
        forEachCut(cut -> {
            List<String> names = cut.list();
            byte[] left = cut.visible(HEAP);
            assertThat(cut.durable(HEAP)).isEqualTo(left);
            CrashStorage again = cut.powerCut(new SplittableRandom(1));
            assertThat(again.list()).isEqualTo(names);
            assertThat(again.visible(HEAP)).isEqualTo(left);
            assertThat(again.survived()).isEqualTo("everything was on the disk");
            change(cut);
            assertThat(again.visible(HEAP)).isEqualTo(left);
            assertThat(again.visible("clean")).containsOnly(OLD);
        });
        assertThat(storage.visible(HEAP)).isEqualTo(visible);
        assertThat(storage.durable(HEAP)).isEqualTo(durable);
        assertThat(storage.durable("clean")).containsOnly(OLD);
        assertThat(storage.list()).containsExactly(HEAP, "clean", "b");
    }

    private static void change(CrashStorage storage) {
        try {
            for (String name : List.of(HEAP, "clean")) {
                StoreFile file = storage.open(name);
                file.write(filled((byte) 5, 100), 0);
                assertThat(file.map().buffer().get(0)).isEqualTo((byte) 5);
                assertThat(storage.durable(name)[0]).isNotEqualTo((byte) 5);
                file.force();
                assertThat(storage.durable(name)).isEqualTo(storage.visible(name));
            }
            storage.delete("clean");
            storage.forceDirectory();
        } catch (IOException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Test
    void laterOperationsDoNotAffectSurvivingStorage() throws IOException {
        StoreFile file = old("a", SECTOR);
        CrashStorage first = storage.powerCut(new SplittableRandom(1));
        file.map();
        CrashStorage second = storage.powerCut(new SplittableRandom(1));
        writeSector(file, 0);
        file.force();
        storage.delete("a");
        storage.forceDirectory();
        assertThat(first.visible("a")).containsOnly(OLD);
        assertThat(second.visible("a")).containsOnly(OLD);
    }

    @Test
    void sameSeedLeavesSameBytes() throws IOException {
        StoreFile file = old("a", 6 * SECTOR);
        writeSector(file, 0);
        writeSector(file, 4);
        old("b", BLOCK).write(filled(NEW, 3000), 10);
        storage.create("c", 10);
        for (int seed = 0; seed < 100; seed++) {
            CrashStorage one = storage.powerCut(new SplittableRandom(seed));
            CrashStorage other = storage.powerCut(new SplittableRandom(seed));
            assertThat(one.list()).isEqualTo(other.list());
            assertThat(one.survived()).isEqualTo(other.survived());
            for (String name : one.list()) {
                assertThat(one.visible(name)).isEqualTo(other.visible(name));
            }
        }
    }

    @Test
    void reportsSurvivingSectorsAndUndoneChanges() throws IOException {
        old("a", 700).write(filled(NEW, 400), 690);
        storage.create("b", 1);
        storage.rename("b", "c");
        String untorn = "2, lost 0|1, lost 1|0, lost 2";
        String torn = "(1, lost 0|0, lost 1), sector [12] torn at byte \\d+";
        Set<String> descriptions = new HashSet<>();
        forEachCut(cut -> descriptions.add(cut.survived()));
        assertThat(descriptions)
                .contains(
                        "a: sectors kept 2, lost 0",
                        "a: sectors kept 0, lost 2, 700 of 1090 bytes; undone: create b; undone: rename b to c",
                        "a: sectors kept 1, lost 1; undone: rename b to c")
                .allMatch(words -> words.matches("a: sectors kept (" + untorn + "|" + torn + ")(, (block|\\d).*|;.*)?"))
                .anyMatch(words -> words.matches("a: sectors kept " + torn))
                .anyMatch(words -> words.contains(", block 0 garbled"));
        assertThat(storage.survived()).isEqualTo("no power cut");
    }
}
