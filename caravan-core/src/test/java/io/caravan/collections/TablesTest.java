package io.caravan.collections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.IntConsumer;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares the hash tables of this package with the maps of the JDK. */
class TablesTest {
    private static final int OPERATIONS = 20_000;

    /** Stores the keys of slots outside the table, as the users of a table must. */
    private static final class Keeper {
        final Map<Integer, Long> keys = new HashMap<>();

        long key(int slot) {
            return keys.get(slot);
        }
    }

    /** Returns a key that is likely to recur, sometimes near an end of the range of longs. */
    private static long key(Random random) {
        return switch (random.nextInt(6)) {
            case 0 -> Long.MIN_VALUE + random.nextInt(50);
            case 1 -> Long.MAX_VALUE - random.nextInt(50);
            case 2 -> (long) random.nextInt(50) << 32;
            default -> random.nextInt(1 + random.nextInt(1_500));
        };
    }

    @Test
    void slotTableBehavesLikeMap() {
        Seeds.forEach(10, seed -> {
            Random random = new Random(seed);
            Keeper keeper = new Keeper();
            SlotTable table = new SlotTable(2, keeper::key);
            Map<Long, Integer> model = new HashMap<>();
            int nextSlot = 0;
            for (int i = 0; i < OPERATIONS; i++) {
                long key = key(random);
                Integer slot = model.get(key);
                assertThat(table.find(key)).isEqualTo(slot == null ? -1 : slot);
                if (slot == null && random.nextInt(10) < (i / 4_000 % 2 == 0 ? 8 : 2)) {
                    keeper.keys.put(nextSlot, key);
                    table.add(nextSlot);
                    model.put(key, nextSlot++);
                } else if (slot != null && random.nextInt(10) < (i / 4_000 % 2 == 0 ? 2 : 9)) {
                    table.remove(slot);
                    keeper.keys.remove(slot);
                    model.remove(key);
                }
                assertThat(table.size()).isEqualTo(model.size());
            }
            Set<Integer> slots = new HashSet<>();
            for (int part = 0; part < 2; part++) {
                table.forEach(part, slot -> assertThat(slots.add(slot)).isTrue());
            }
            assertThat(slots).isEqualTo(new HashSet<>(model.values()));
            assertThat(table.memoryBytes()).isLessThanOrEqualTo(1_000 + 8 * 4L * model.size());
        });
    }

    @Test
    void forEachVisitsEachPartitionSeparately() {
        Seeds.forEach(5, seed -> {
            Random random = new Random(seed);
            Keeper keeper = new Keeper();
            SlotTable table = new SlotTable(8, keeper::key);
            Map<Long, Integer> model = new HashMap<>();
            for (int slot = 0; slot < 5_000; slot++) {
                long key = key(random);
                Integer there = model.remove(key);
                if (there != null) {
                    table.remove(there);
                } else {
                    keeper.keys.put(slot, key);
                    table.add(slot);
                    model.put(key, slot);
                }
            }
            assertThat(table.size()).isEqualTo(model.size());
            int sum = 0;
            for (int part = 0; part < 8; part++) {
                int number = part;
                int[] count = {0};
                table.forEach(part, slot -> {
                    count[0]++;
                    assertThat((int) (SlotTable.hash(keeper.key(slot)) >>> 61)).isEqualTo(number);
                    assertThat(model).containsEntry(keeper.key(slot), slot);
                });
                sum += count[0];
            }
            assertThat(sum).isEqualTo(model.size());
            model.forEach((key, slot) -> assertThat(table.find(key)).isEqualTo(slot));
        });
    }

    @Test
    void rejectsAbsentSlotAndInvalidPartitionCount() {
        SlotTable table = new SlotTable(2, slot -> slot);
        table.add(1);
        assertThatIllegalStateException().isThrownBy(() -> table.remove(2));
        assertThatIllegalStateException().isThrownBy(() -> new SlotTable(4, slot -> slot).remove(2));
        assertThatIllegalArgumentException().isThrownBy(() -> new SlotTable(3, slot -> slot));
    }

    /**
     * A table that counts key lookups. An operation looks up keys, and moves only slots whose keys it has looked up.
     */
    private static final class Counted {
        final SlotTable table;
        long lookups;
        long most;

        Counted(int partitions, IntToLongFunction keys) {
            table = new SlotTable(partitions, slot -> {
                lookups++;
                return keys.applyAsLong(slot);
            });
        }

        /** Runs the operation for this many slots, and returns the maximum number of key lookups per operation. */
        long most(int slots, IntConsumer operation) {
            most = 0;
            for (int slot = 0; slot < slots; slot++) {
                lookups = 0;
                operation.accept(slot);
                most = Math.max(most, lookups);
            }
            return most;
        }
    }

    @Test
    void operationCostIsBoundedByBucketSize() {
        int slots = 50_000;
        Counted counted = new Counted(2, slot -> slot * 31L);
        SlotTable table = counted.table;
        assertThat(counted.most(slots, table::add)).isBetween(1_536L, 4_700L);
        assertThat(counted.most(slots, slot -> table.find(slot * 31L))).isLessThan(20);
        assertThat(counted.most(slots, table::remove)).isLessThanOrEqualTo(4_700);
        assertThat(table.memoryBytes()).as("buckets were joined").isLessThan(200);
    }

    /** Checks keys whose hashes differ only in the lowest bits, so that buckets burst until they reach these bits. */
    @Test
    void separatesKeysWithNearlyEqualHashes() {
        int slots = 4_000;
        long first = 0x1234_5678_9ABC_0000L;
        Counted counted = new Counted(1024, slot -> keyOfHash(first + slot));
        SlotTable table = counted.table;
        assertThat(counted.most(slots, table::add)).isLessThanOrEqualTo(15 * 4_700);
        for (int slot = 0; slot < slots; slot++) {
            assertThat(table.find(keyOfHash(first + slot))).isEqualTo(slot);
        }
        Set<Integer> found = new HashSet<>();
        table.forEach((int) (first >>> 54), found::add);
        assertThat(found).hasSize(slots);
        assertThat(counted.most(slots, table::remove)).isLessThanOrEqualTo(15 * 4_700);
        assertThat(table.memoryBytes()).as("nodes were joined").isLessThan(1024 * 4 + 100);
    }

    /** Inverts {@link SlotTable#hash}. */
    private static long keyOfHash(long hash) {
        long h = (hash ^ hash >>> 32) * inverse(0xBF58_476D_1CE4_E5B9L);
        h = (h ^ h >>> 29 ^ h >>> 58) * inverse(0x9E37_79B9_7F4A_7C15L);
        return h ^ h >>> 32;
    }

    /** Returns the inverse of an odd number modulo 2^64. Each step doubles the number of correct bits. */
    private static long inverse(long odd) {
        long inverse = odd;
        for (int i = 0; i < 6; i++) {
            inverse *= 2 - odd * inverse;
        }
        return inverse;
    }

    @Test
    void walkVisitsUnchangedSlotsOnceDuringChanges() {
        Seeds.forEach(10, seed -> {
            Random random = new Random(seed);
            SlotTable table = new SlotTable(4, slot -> slot * 977L);
            Set<Integer> there = new HashSet<>();
            int slots = 20_000;
            boolean growing = random.nextBoolean();
            for (int slot = 0; slot < slots; slot += growing ? 9 : 1) {
                table.add(slot);
                there.add(slot);
            }
            Set<Integer> throughout = new HashSet<>(there);
            Map<Integer, Integer> visits = new HashMap<>();
            for (int part = 0; part < 4; part++) {
                long position = (long) part << Long.SIZE - 2;
                do {
                    int[] visited = {0};
                    position = table.visit(position, slot -> {
                        visits.merge(slot, 1, Integer::sum);
                        visited[0]++;
                    });
                    assertThat(visited[0]).isLessThanOrEqualTo(192);
                    for (int change = 0; change < 100; change++) {
                        int slot = random.nextInt(slots);
                        if (there.contains(slot) && random.nextInt(10) < (growing ? 1 : 9)) {
                            table.remove(slot);
                            there.remove(slot);
                            throughout.remove(slot);
                        } else if (!there.contains(slot) && random.nextInt(10) < (growing ? 9 : 1)) {
                            table.add(slot);
                            there.add(slot);
                        }
                    }
                } while (position >>> Long.SIZE - 2 == part);
            }
            throughout.forEach(slot -> assertThat(visits).containsEntry(slot, 1));
        });
    }

    /** Checks that a frozen copy stays the same while the table grows or shrinks and its buckets burst or join. */
    @Test
    @Tag("rounds")
    void frozenTableDoesNotChange() {
        Seeds.forEach(Rounds.of(3, 100), seed -> {
            Random random = new Random(seed);
            SlotTable table = new SlotTable(4, slot -> slot * 977L);
            Set<Integer> there = new HashSet<>();
            int slots = 40_000;
            for (int round = 0; round < 8; round++) {
                Set<Integer> before = new HashSet<>(there);
                SlotTable frozen = table.freeze(slot -> slot * 977L);
                boolean growing = random.nextBoolean();
                for (int i = random.nextInt(3 * slots); i > 0; i--) {
                    int slot = random.nextInt(slots);
                    if (growing && there.add(slot)) {
                        table.add(slot);
                    } else if (!growing && there.remove(slot)) {
                        table.remove(slot);
                    }
                }
                assertThat(slotsOf(frozen)).isEqualTo(before);
                assertThat(frozen.size()).isEqualTo(before.size());
                table.thaw();
                assertThat(slotsOf(table)).isEqualTo(there);
            }
        });
    }

    private static Set<Integer> slotsOf(SlotTable table) {
        Set<Integer> slots = new HashSet<>();
        for (int part = 0; part < 4; part++) {
            table.forEach(part, slot -> assertThat(slots.add(slot)).isTrue());
        }
        return slots;
    }

    @Test
    void frozenPageIsCopiedOnceOnFirstWrite() {
        LongPages pages = new LongPages(LongPages.MAX_PAGES);
        for (int page = 0; page < 5; page++) {
            pages.set(pages.addPage() * LongPages.PAGE_LONGS, page);
        }
        LongPages frozen = new LongPages(pages);
        for (int page = 0; page < 5; page++) {
            assertThat(pages.page(page)).isSameAs(frozen.page(page));
        }
        pages.set(LongPages.PAGE_LONGS, 77);
        long[] copied = pages.page(1);
        assertThat(copied).isNotSameAs(frozen.page(1));
        pages.set(LongPages.PAGE_LONGS + 1, 78);
        assertThat(pages.page(1)).isSameAs(copied);
        pages.releasePage(2);
        pages.set(pages.addPage() * LongPages.PAGE_LONGS, 79);
        pages.set(pages.addPage() * LongPages.PAGE_LONGS, 80);
        for (int page = 0; page < 5; page++) {
            assertThat(frozen.get(page * LongPages.PAGE_LONGS)).isEqualTo(page);
        }
        assertThat(frozen.get(LongPages.PAGE_LONGS + 1)).isZero();
        pages.thaw();
        long[] shared = pages.page(3);
        pages.set(3 * LongPages.PAGE_LONGS, 81);
        assertThat(pages.page(3)).as("nothing is frozen any more").isSameAs(shared);
    }

    @Test
    void longPagesKeepEveryLong() {
        Seeds.forEach(3, seed -> {
            Random random = new Random(seed);
            LongPages pages = new LongPages(LongPages.MAX_PAGES);
            Map<Integer, Long> model = new HashMap<>();
            for (int page = 0; page < 9; page++) {
                assertThat(pages.addPage()).isEqualTo(page);
                for (int i = 0; i < 500; i++) {
                    int index = random.nextInt((page + 1) * LongPages.PAGE_LONGS);
                    long value = random.nextLong();
                    pages.set(index, value);
                    model.put(index, value);
                }
            }
            for (int index = 0; index < 9 * LongPages.PAGE_LONGS; index++) {
                assertThat(pages.get(index)).isEqualTo(model.getOrDefault(index, 0L));
            }
            long[] run = new long[10];
            pages.copy(2 * LongPages.PAGE_LONGS + 5, run, 2, 8);
            for (int i = 0; i < 8; i++) {
                assertThat(run[2 + i]).isEqualTo(pages.get(2 * LongPages.PAGE_LONGS + 5 + i));
            }
        });
    }

    @Test
    void releasedPagesFreeMemoryAndAreReusedEmpty() {
        LongPages pages = new LongPages(LongPages.MAX_PAGES);
        for (int page = 0; page < 20; page++) {
            pages.addPage();
            pages.set(page * LongPages.PAGE_LONGS, 7);
        }
        long full = pages.memoryBytes();
        for (int page = 0; page < 20; page += 2) {
            pages.releasePage(page);
        }
        assertThat(pages.memoryBytes()).isLessThan(full - 9 * 8L * LongPages.PAGE_LONGS);
        for (int page = 0; page < 20; page += 2) {
            int added = pages.addPage();
            assertThat(added % 2).isZero();
            assertThat(pages.get(added * LongPages.PAGE_LONGS)).isZero();
        }
        assertThat(pages.addPage()).isEqualTo(20);
        assertThat(pages.get(3 * LongPages.PAGE_LONGS)).isEqualTo(7);
    }

    @Test
    void recordPagesKeepRecordsAndReleaseEmptyPages() {
        Seeds.forEach(5, seed -> {
            Random random = new Random(seed);
            int longs = 1 + random.nextInt(12);
            RecordPages records = new RecordPages(longs);
            Map<Integer, Long> model = new HashMap<>();
            List<Integer> used = new ArrayList<>();
            for (int i = 0; i < OPERATIONS; i++) {
                if (used.isEmpty() || random.nextInt(10) < (i / 5_000 % 2 == 0 ? 9 : 2)) {
                    int record = records.allocate();
                    long value = random.nextLong();
                    records.set(record, 0, value);
                    records.set(record, longs - 1, value);
                    assertThat(model.put(record, value)).isNull();
                    used.add(record);
                } else {
                    int at = random.nextInt(used.size());
                    int record = used.set(at, used.get(used.size() - 1));
                    used.remove(used.size() - 1);
                    assertThat(records.get(record, 0)).isEqualTo(model.remove(record));
                    records.free(record);
                }
            }
            model.forEach((record, value) ->
                    assertThat(records.get(record, longs - 1)).isEqualTo(value));
            used.forEach(records::free);
            assertThat(records.memoryBytes()).as("one page stays").isLessThan(8 * LongPages.PAGE_LONGS + 1_000);
        });
    }
}
