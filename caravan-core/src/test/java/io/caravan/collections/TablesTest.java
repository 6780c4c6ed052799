package io.caravan.collections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.caravan.testing.Seeds;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The tables against those of the JDK. */
class TablesTest {
    private static final int OPERATIONS = 20_000;

    /** Keys of slots, kept beside the table as its users do. */
    private static final class Keeper {
        final Map<Integer, Long> keys = new HashMap<>();

        long key(int slot) {
            return keys.get(slot);
        }
    }

    /** Few keys, so that most meet again, and the edges among them. */
    private static long key(Random random) {
        return switch (random.nextInt(6)) {
            case 0 -> Long.MIN_VALUE + random.nextInt(50);
            case 1 -> Long.MAX_VALUE - random.nextInt(50);
            case 2 -> (long) random.nextInt(50) << 32;
            default -> random.nextInt(1 + random.nextInt(1_500));
        };
    }

    @Test
    void aSlotTableIsAMap() {
        Seeds.forEach(10, seed -> {
            Random random = new Random(seed);
            Keeper keeper = new Keeper();
            SlotTable table = new SlotTable(keeper::key);
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
            table.forEach(slot -> assertThat(slots.add(slot)).isTrue());
            assertThat(slots).isEqualTo(new HashSet<>(model.values()));
            assertThat(table.memoryBytes()).isLessThanOrEqualTo(Math.max(16, 8 * 4L * (model.size() + 1)));
        });
    }

    @Test
    void aPartitionedSlotTableIsAMapInParts() {
        Seeds.forEach(5, seed -> {
            Random random = new Random(seed);
            Keeper keeper = new Keeper();
            PartitionedSlotTable table = new PartitionedSlotTable(8, keeper::key);
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
                    assertThat(table.partitionOf(keeper.key(slot))).isEqualTo(number);
                    assertThat(model).containsEntry(keeper.key(slot), slot);
                });
                assertThat(table.partitionSize(part)).isEqualTo(count[0]);
                sum += count[0];
            }
            assertThat(sum).isEqualTo(model.size());
            model.forEach((key, slot) -> assertThat(table.find(key)).isEqualTo(slot));
        });
    }

    @Test
    void removingWhatIsNotThereIsAMistake() {
        SlotTable table = new SlotTable(slot -> slot);
        table.add(1);
        assertThatIllegalStateException().isThrownBy(() -> table.remove(2));
        assertThatIllegalStateException().isThrownBy(() -> new PartitionedSlotTable(4, slot -> slot).remove(2));
        assertThatIllegalArgumentException().isThrownBy(() -> new PartitionedSlotTable(3, slot -> slot));
    }

    @Test
    void longPagesKeepEveryLong() {
        Seeds.forEach(3, seed -> {
            Random random = new Random(seed);
            LongPages pages = new LongPages();
            Map<Integer, Long> model = new HashMap<>();
            assertThat(pages.capacity()).isZero();
            for (int page = 1; page <= 9; page++) {
                pages.addPage();
                assertThat(pages.capacity()).isEqualTo(page * LongPages.PAGE_LONGS);
                for (int i = 0; i < 500; i++) {
                    int index = random.nextInt(pages.capacity());
                    long value = random.nextLong();
                    pages.set(index, value);
                    model.put(index, value);
                }
            }
            for (int index = 0; index < pages.capacity(); index++) {
                assertThat(pages.get(index)).isEqualTo(model.getOrDefault(index, 0L));
            }
            long[] run = new long[10];
            pages.copy(2 * LongPages.PAGE_LONGS + 5, run, 2, 8);
            for (int i = 0; i < 8; i++) {
                assertThat(run[2 + i]).isEqualTo(pages.get(2 * LongPages.PAGE_LONGS + 5 + i));
            }
        });
    }
}
