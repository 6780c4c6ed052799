package io.caravan.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.io.MappedFile;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
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

/** What a power cut may leave, and what it never may: every sentence of the model, over many seeds. */
class CrashStoragePowerCutTest {
    private static final int SECTOR = CrashFile.SECTOR_BYTES;
    private static final int BLOCK = CrashFile.BLOCK_BYTES;
    private static final int SEEDS = 4000;
    private static final byte NEW = 1;
    private static final byte OLD = 2;

    private final CrashStorage storage = new CrashStorage(0);

    /** A file of old bytes, durable with its name. */
    private StoreFile old(String name, int size) throws IOException {
        StoreFile file = storage.create(name, size);
        file.write(filled(OLD, size), 0);
        file.force();
        storage.forceDirectory();
        return file;
    }

    private static ByteBuffer filled(byte with, int count) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, with);
        return ByteBuffer.wrap(bytes);
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

    private static void put(MappedFile mapping, int sector) {
        mapping.buffer().put(sector * SECTOR, filled(NEW, SECTOR).array());
    }

    /** A sector: 'o' old, 'n' new, 't' new and then old, 'r' old and then new, '?' neither. */
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
    void eachSectorThatDiffersIsLostOrKeptAndAtMostOneIsTorn() throws IOException {
        MappedFile mapping = old("a", 6 * SECTOR).map();
        for (int sector : new int[] {0, 1, 3, 5}) {
            put(mapping, sector);
        }
        Map<String, Integer> outcomes = new HashMap<>();
        forEachCut(cut -> {
            String sectors = sectors(cut.visible("a"));
            assertThat(sectors).matches("(?!.*[tr].*[tr])[ontr][ontr]o[ontr]o[ontr]");
            outcomes.merge(sectors, 1, Integer::sum);
        });
        assertThat(outcomes).hasSize(16 + 4 * 2 * 8);
        assertThat(outcomes.get("nnonon")).as("all kept").isGreaterThan(SEEDS / 16);
        assertThat(outcomes.get("oooooo")).as("none kept").isGreaterThan(SEEDS / 16);
    }

    @Test
    void ofManySectorsAPrefixOrASuffixOrSomeAreKept() throws IOException {
        int count = 40;
        MappedFile mapping = old("a", count * SECTOR).map();
        for (int sector = 0; sector < count; sector++) {
            put(mapping, sector);
        }
        Set<String> outcomes = new HashSet<>();
        forEachCut(cut -> {
            String sectors = sectors(cut.visible("a"));
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
    void aTearMayBeAnywhereInTheBytesThatChange() throws IOException {
        MappedFile mapping = old("a", SECTOR).map();
        mapping.buffer().put(100, filled(NEW, 3).array());
        Set<String> outcomes = new TreeSet<>();
        forEachCut(cut -> outcomes.add(Arrays.toString(Arrays.copyOfRange(cut.visible("a"), 100, 103))));
        assertThat(outcomes)
                .containsExactly("[1, 1, 1]", "[1, 1, 2]", "[1, 2, 2]", "[2, 1, 1]", "[2, 2, 1]", "[2, 2, 2]");
    }

    @Test
    void neighboursInTheSameSectorSurvive() throws IOException {
        MappedFile mapping = old("a", 2 * SECTOR).map();
        mapping.buffer().put(100, filled(NEW, 300).array());
        mapping.buffer().put(SECTOR + 511, NEW);
        forEachCut(cut -> {
            byte[] bytes = cut.visible("a");
            assertThat(Arrays.copyOf(bytes, 100)).containsOnly(OLD);
            assertThat(Arrays.copyOfRange(bytes, 400, SECTOR + 511)).containsOnly(OLD);
        });
    }

    @Test
    void whatWasForcedIsKept() throws IOException {
        StoreFile file = old("a", 4 * SECTOR);
        MappedFile mapping = file.map();
        file.write(filled(NEW, SECTOR), 0);
        put(mapping, 2);
        mapping.force(0, mapping.buffer().capacity());
        put(mapping, 3);
        forEachCut(cut -> assertThat(sectors(cut.visible("a"))).matches("nonn|nono|nont|nonr"));
    }

    @Test
    void whatTheKernelHasWrittenBackTakesThePlaceOfTheOld() throws IOException {
        MappedFile mapping = old("a", SECTOR).map();
        put(mapping, 0);
        SplittableRandom choices = new SplittableRandom(1);
        while (storage.durable("a")[0] == OLD) {
            storage.writeBack(choices);
        }
        byte newer = 3;
        mapping.buffer().put(0, filled(newer, SECTOR).array());
        Set<Byte> outcomes = new HashSet<>();
        forEachCut(cut -> {
            assertThat(cut.visible("a")).doesNotContain(OLD);
            outcomes.add(cut.visible("a")[0]);
        });
        assertThat(outcomes).containsExactlyInAnyOrder(NEW, newer);
    }

    @Test
    void filesAreLostIndependently() throws IOException {
        put(old("a", SECTOR).map(), 0);
        put(old("b", SECTOR).map(), 0);
        Set<String> outcomes = new HashSet<>();
        forEachCut(cut -> outcomes.add(sectors(cut.visible("a")) + sectors(cut.visible("b"))));
        assertThat(outcomes).contains("oo", "on", "no", "nn");
    }

    @Test
    void aSizeThatWasNotForcedIsOldOrNewOrBetweenAndZerosWhereItIsLost() throws IOException {
        int before = 700;
        int from = 650;
        int after = 5 * SECTOR + 10;
        StoreFile file = old("a", before);
        file.write(filled(NEW, after - from), from);
        Set<Integer> sizes = new TreeSet<>();
        Set<Byte> lastBytes = new HashSet<>();
        boolean[] unforeseen = {false};
        forEachUngarbledCut(cut -> {
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

    private void forEachUngarbledCut(Consumer<CrashStorage> check) {
        forEachCut(cut -> {
            if (!cut.survived().contains("garbled")) {
                check.accept(cut);
            }
        });
    }

    @Test
    void aBlockThatWasWrittenMayBeGarbageEvenWithTheBytesItHad() throws IOException {
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

    /** Which blocks are not all old bytes; these must be random. */
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
    void aBlockIsNotGarbageOnceItIsForced() throws IOException {
        StoreFile file = old("a", 4 * BLOCK);
        file.write(filled(NEW, BLOCK), 0);
        file.force();
        forEachCut(cut -> assertThat(cut.visible("a")).isEqualTo(storage.visible("a")));
    }

    @Test
    void aBlockMayBeGarbageUntilAForceAlthoughTheKernelHasWrittenItOrTheProcessWasKilled() throws IOException {
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
    void whatIsLeftIsCleanAndIndependent() throws IOException {
        StoreFile file = old("a", 4 * SECTOR);
        old("clean", SECTOR);
        MappedFile mapping = file.map();
        put(mapping, 1);
        storage.create("b", 10);
        byte[] visible = storage.visible("a");
        byte[] durable = storage.durable("a");
        forEachCut(cut -> {
            List<String> names = cut.list();
            byte[] left = cut.visible("a");
            assertThat(cut.durable("a")).isEqualTo(left);
            CrashStorage again = cut.powerCut(new SplittableRandom(1));
            assertThat(again.list()).isEqualTo(names);
            assertThat(again.visible("a")).isEqualTo(left);
            assertThat(again.survived()).isEqualTo("everything was on the disk");
            change(cut);
            assertThat(again.visible("a")).isEqualTo(left);
            assertThat(again.visible("clean")).containsOnly(OLD);
        });
        assertThat(storage.visible("a")).isEqualTo(visible);
        assertThat(storage.durable("a")).isEqualTo(durable);
        assertThat(storage.durable("clean")).containsOnly(OLD);
        assertThat(storage.list()).containsExactly("a", "clean", "b");
    }

    private static void change(CrashStorage storage) {
        try {
            for (String name : List.of("a", "clean")) {
                StoreFile file = storage.open(name);
                file.write(filled((byte) 5, 100), 0);
                file.map().buffer().put(200, (byte) 6);
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
    void whatTheStorageDoesAfterACutDoesNotReachWhatIsLeft() throws IOException {
        StoreFile file = old("a", SECTOR);
        CrashStorage first = storage.powerCut(new SplittableRandom(1));
        MappedFile mapping = file.map();
        CrashStorage second = storage.powerCut(new SplittableRandom(1));
        put(mapping, 0);
        mapping.force(0, mapping.buffer().capacity());
        storage.delete("a");
        storage.forceDirectory();
        assertThat(first.visible("a")).containsOnly(OLD);
        assertThat(second.visible("a")).containsOnly(OLD);
    }

    @Test
    void theSameCallsAndSeedsLeaveTheSameBytes() throws IOException {
        MappedFile mapping = old("a", 6 * SECTOR).map();
        put(mapping, 0);
        put(mapping, 4);
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
    void itTellsWhatSurvived() throws IOException {
        old("a", 700).write(filled(NEW, 400), 690);
        storage.create("b", 1);
        storage.rename("b", "c");
        String whole = "2, lost 0|1, lost 1|0, lost 2";
        String torn = "(1, lost 0|0, lost 1), sector [12] torn at byte \\d+";
        Set<String> told = new HashSet<>();
        forEachCut(cut -> told.add(cut.survived()));
        assertThat(told)
                .contains(
                        "a: sectors kept 2, lost 0",
                        "a: sectors kept 0, lost 2, 700 of 1090 bytes; undone: create b; undone: rename b to c",
                        "a: sectors kept 1, lost 1; undone: rename b to c")
                .allMatch(words -> words.matches("a: sectors kept (" + whole + "|" + torn + ")(, (block|\\d).*|;.*)?"))
                .anyMatch(words -> words.matches("a: sectors kept " + torn))
                .anyMatch(words -> words.contains(", block 0 garbled"));
        assertThat(storage.survived()).isEqualTo("no power cut");
    }
}
