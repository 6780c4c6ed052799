package io.caravan.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.format.Region;
import io.caravan.index.Pins.Pin;
import io.caravan.testing.Rounds;
import io.caravan.testing.Seeds;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Compares the index with plain lists of regions. Trims and deletions queue reclaims, as in a store. */
class ListIndexTest {
    private static final int OPERATIONS = 30_000;
    private static final int IDS = 12;

    /** A list of the model: its regions, starting at sequence {@code firstStored}, and its sequences. */
    private static final class Lane {
        final int list;
        final long id;
        final long creationLsn;
        final Deque<Long> regions = new ArrayDeque<>();
        long firstStored;
        long first;
        long next;
        long lastLsn;

        Lane(int list, long id, long creationLsn) {
            this.list = list;
            this.id = id;
            this.creationLsn = creationLsn;
            this.lastLsn = creationLsn;
        }
    }

    private record Reclaim(Lane lane, long to) {}

    /** A pin, the first sequence that it protects, and the regions freed since it was set. */
    private record Pinned(Lane lane, Pin pin, long from, List<Long> freedSince) {}

    /** An index and its model; each operation is applied to both. */
    private static final class Both {
        final ListIndex index = new ListIndex();
        final Map<Long, Lane> lanes = new HashMap<>();
        final List<Pinned> pinned = new ArrayList<>();
        final Deque<Reclaim> queue = new ArrayDeque<>();
        final Random random;
        long lsn = 4096;

        Both(long seed) {
            random = new Random(seed);
        }

        void append(long id, int count) {
            Lane lane = lanes.get(id);
            assertThat(index.find(id)).isEqualTo(lane == null ? ListIndex.NONE : lane.list);
            if (lane == null) {
                lane = new Lane(index.create(id, lsn, 0), id, lsn);
                lanes.put(id, lane);
            }
            for (int i = 0; i < count; i++) {
                long region = Region.pack(8L * random.nextInt(1 << 30), random.nextInt(1 << 20));
                index.append(lane.list, region, ++lsn);
                lane.regions.add(region);
                lane.next++;
                lane.lastLsn = lsn;
            }
        }

        void trim(long id) {
            Lane lane = lanes.get(id);
            if (lane != null) {
                long to = lane.first + random.nextInt((int) (lane.next - lane.first) + 2) - random.nextInt(2);
                long first = index.trimTo(lane.list, to, ++lsn);
                lane.first = Math.max(lane.first, Math.min(to, lane.next));
                lane.lastLsn = lsn;
                assertThat(first).isEqualTo(lane.first);
                enqueue(lane, lane.first);
            }
        }

        void remove(long id) {
            Lane lane = lanes.remove(id);
            if (lane != null) {
                index.remove(lane.list, ++lsn);
                lane.first = lane.next;
                lane.lastLsn = lsn;
                assertThat(index.find(id)).isEqualTo(ListIndex.NONE);
                enqueue(lane, lane.next);
            }
        }

        void enqueue(Lane lane, long to) {
            index.queued(lane.list);
            queue.add(new Reclaim(lane, to));
        }

        void pin(long id) {
            Lane lane = lanes.get(id);
            if (lane != null) {
                long from = lane.first + random.nextInt((int) (lane.next - lane.first) + 1);
                pinned.add(new Pinned(lane, index.pin(lane.list, from), from, new ArrayList<>()));
            }
        }

        long firstPinned(Lane lane) {
            return pinned.stream()
                    .filter(pin -> pin.lane() == lane)
                    .mapToLong(Pinned::from)
                    .min()
                    .orElse(Long.MAX_VALUE);
        }

        void unpin() {
            if (!pinned.isEmpty()) {
                Pinned removed = pinned.remove(random.nextInt(pinned.size()));
                Lane lane = removed.lane();
                assertThat(removed.pin().freedBytes())
                        .isEqualTo(removed.freedSince().stream()
                                .mapToLong(Region::length)
                                .sum());
                if (index.unpin(removed.pin())) {
                    assertThat(firstPinned(lane)).isGreaterThan(removed.from());
                    enqueue(lane, index.first(lane.list));
                }
            }
        }

        void reclaim() {
            Reclaim reclaim = queue.peek();
            if (reclaim == null) {
                return;
            }
            Lane lane = reclaim.lane();
            int limit = 1 + random.nextInt(40);
            List<Long> freed = new ArrayList<>();
            boolean more = index.reclaim(lane.list, reclaim.to(), limit, freed::add);
            assertThat(freed.size()).isLessThanOrEqualTo(limit);
            for (long region : freed) {
                assertThat(region).isEqualTo(lane.regions.poll());
                lane.firstStored++;
            }
            pinned.stream()
                    .filter(pin -> pin.lane() == lane)
                    .forEach(pin -> pin.freedSince().addAll(freed));
            assertThat(lane.firstStored).isLessThanOrEqualTo(Math.min(lane.first, firstPinned(lane)));
            if (!more) {
                assertThat(lane.firstStored)
                        .isGreaterThanOrEqualTo(Math.min(Math.min(reclaim.to(), lane.first), firstPinned(lane)));
                queue.remove();
                index.unqueued(lane.list);
            }
        }

        void assertSame() {
            Set<Long> ids = new HashSet<>();
            long entries = 0;
            for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
                index.forEachList(
                        partition, list -> assertThat(ids.add(index.id(list))).isTrue());
            }
            assertThat(ids).isEqualTo(lanes.keySet());
            assertThat(index.listCount()).isEqualTo(lanes.size());
            for (Lane lane : lanes.values()) {
                assertSame(lane);
                entries += lane.next - lane.first;
            }
            pinned.forEach(pin -> assertSame(pin.lane()));
            assertThat(index.entryCount()).isEqualTo(entries);
        }

        void assertSame(Lane lane) {
            int list = lane.list;
            assertThat(index.id(list)).isEqualTo(lane.id);
            assertThat(index.creationLsn(list)).isEqualTo(lane.creationLsn);
            assertThat(index.firstStored(list)).isEqualTo(lane.firstStored);
            assertThat(index.first(list)).isEqualTo(lane.first);
            assertThat(index.next(list)).isEqualTo(lane.next);
            assertThat(index.lastLsn(list)).isEqualTo(lane.lastLsn);
            assertThat(index.storedBytes(list))
                    .isEqualTo(lane.regions.stream().mapToLong(Region::length).sum());
            if (lane.next > lane.firstStored) {
                assertSameRegions(lane);
            }
        }

        /** Compares the regions from a random position of the list, in slices of random sizes. */
        void assertSameRegions(Lane lane) {
            List<Long> expected = new ArrayList<>(lane.regions);
            int from = random.nextInt(expected.size());
            ListCursor cursor = new ListCursor();
            index.seek(lane.list, lane.firstStored + from, cursor);
            long[] copied = new long[expected.size() - from];
            for (int at = 0; at < copied.length; ) {
                assertThat(cursor.sequence()).isEqualTo(lane.firstStored + from + at);
                int count = Math.min(copied.length - at, 1 + random.nextInt(copied.length));
                index.copyRegions(cursor, copied, at, count);
                at += count;
            }
            assertThat(copied)
                    .containsExactly(expected.subList(from, expected.size()).stream()
                            .mapToLong(Long::longValue)
                            .toArray());
        }
    }

    @Test
    @Tag("rounds")
    void matchesModelUnderRandomOperations() {
        Seeds.forEach(Rounds.of(2, 20), seed -> {
            Both both = new Both(seed);
            Random random = both.random;
            for (int i = 0; i < OPERATIONS; i++) {
                long id = random.nextInt(IDS) - 3;
                switch (random.nextInt(12)) {
                    case 0, 1, 2, 3 -> both.append(id, 1);
                    case 4 -> both.append(id, random.nextInt(random.nextInt(20) == 0 ? 400 : 20));
                    case 5, 6 -> both.trim(id);
                    case 7 -> both.pin(id);
                    case 8 -> both.unpin();
                    case 9 -> {
                        if (random.nextInt(10) == 0) {
                            both.remove(id);
                        }
                    }
                    default -> both.reclaim();
                }
                if (i % 300 == 0) {
                    both.assertSame();
                }
            }
            both.assertSame();
            long before = both.index.memoryBytes();
            emptyAll(both);
            assertThat(both.index.entryCount()).isZero();
            refill(both, OPERATIONS / 10);
            emptyAll(both);
            refill(both, OPERATIONS / 10);
            assertThat(both.index.memoryBytes())
                    .as("records and chunks are used again")
                    .isLessThan(2 * before + 500_000);
        });
    }

    private static void emptyAll(Both both) {
        while (!both.pinned.isEmpty()) {
            both.unpin();
        }
        for (long id : List.copyOf(both.lanes.keySet())) {
            both.remove(id);
        }
        while (!both.queue.isEmpty()) {
            both.reclaim();
        }
        both.assertSame();
    }

    private static void refill(Both both, int lists) {
        for (int id = 0; id < lists; id++) {
            both.append(id, 3);
        }
    }

    @Test
    void reusesRecordOfRemovedListAfterUnpinAndReclaim() {
        ListIndex index = new ListIndex();
        int list = index.create(1, 4096, 0);
        index.append(list, Region.pack(4096, 5), 4096);
        Pin pin = index.pin(list, 0);
        index.remove(list, 5000);
        reclaim(index, list, 1, new ArrayList<>());
        assertThat(index.create(2, 6000, 0)).isNotEqualTo(list);
        assertThat(index.id(list)).isEqualTo(1);
        assertThat(index.unpin(pin)).isTrue();
        List<Long> freed = new ArrayList<>();
        reclaim(index, list, 1, freed);
        assertThat(freed).containsExactly(Region.pack(4096, 5));
        assertThat(index.create(3, 7000, 0)).isEqualTo(list);
    }

    /** Reclaims the entries up to a sequence, and checks that nothing is left to reclaim. */
    private static void reclaim(ListIndex index, int list, long to, List<Long> freed) {
        index.queued(list);
        assertThat(index.reclaim(list, to, 100, freed::add)).isFalse();
        index.unqueued(list);
    }

    /** Checks that entries that no reader can see are freed even if each reader begins before the previous one ends. */
    @Test
    void overlappingPinsFreeEntriesBeforeFirstPin() {
        ListIndex index = new ListIndex();
        int list = index.create(1, 4096, 0);
        List<Long> freed = new ArrayList<>();
        Pin before = index.pin(list, 0);
        for (int round = 1; round <= 10; round++) {
            index.append(list, Region.pack(4096L * round, 5), 4096 + round);
            index.trimTo(list, round, 5000 + round);
            reclaim(index, list, round, freed);
            assertThat(freed).as("its reader sees the last one still").hasSize(round - 1);
            Pin next = index.pin(list, round);
            assertThat(index.unpin(before)).isTrue();
            reclaim(index, list, round, freed);
            assertThat(freed).hasSize(round);
            before = next;
        }
    }

    /** The expected contents of a list in a frozen copy of the index. */
    private record Was(long creationLsn, long first, long next, List<Long> regions) {
        static Was of(ListIndex index, int list) {
            return new Was(
                    index.creationLsn(list),
                    index.first(list),
                    index.next(list),
                    regionsOf(index, list, index.first(list), index.next(list)));
        }
    }

    private static List<Long> regionsOf(ListIndex index, int list, long first, long next) {
        long[] regions = new long[(int) (next - first)];
        ListCursor cursor = new ListCursor();
        while (!index.seek(list, first, cursor, 3)) {
            assertThat(cursor.sequence()).isLessThan(first);
        }
        index.copyRegions(cursor, regions, 0, regions.length);
        return Arrays.stream(regions).boxed().toList();
    }

    private static Map<Long, Was> contents(ListIndex index) {
        Map<Long, Was> contents = new HashMap<>();
        for (int partition = 0; partition < ListIndex.PARTITIONS; partition++) {
            int expected = partition;
            index.forEachList(partition, list -> {
                assertThat(ListIndex.partitionOf(index.id(list))).isEqualTo(expected);
                assertThat(contents.put(index.id(list), Was.of(index, list))).isNull();
            });
        }
        return contents;
    }

    /** Checks that a frozen copy stays the same while changes to lists free and reuse pages and buckets. */
    @Test
    @Tag("rounds")
    void frozenIndexIsUnaffectedByLaterChanges() {
        Seeds.forEach(Rounds.of(1, 30), seed -> {
            Random random = new Random(seed);
            ListIndex index = new ListIndex();
            Deque<long[]> reclaims = new ArrayDeque<>();
            long lsn = 4096;
            for (int round = 0; round < 4; round++) {
                int lists = 1 + random.nextInt(20_000);
                for (int i = 0; i < 20_000; i++) {
                    change(index, random.nextInt(lists), ++lsn, random, reclaims);
                }
                for (int i = 0; i < 10_000; i++) {
                    change(index, 5, ++lsn, new Random(0), reclaims);
                }
                Map<Long, Was> expected = contents(index);
                ListIndex frozen = index.freeze();
                for (int i = random.nextInt(40_000); i > 0; i--) {
                    change(index, random.nextInt(2 * lists), ++lsn, random, reclaims);
                }
                assertThat(contents(frozen)).isEqualTo(expected);
                assertThat(frozen.listCount()).isEqualTo(expected.size());
                Map<Long, Was> changed = contents(index);
                index.thaw();
                assertThat(contents(index)).isEqualTo(changed);
            }
        });
    }

    private static void change(ListIndex index, long id, long lsn, Random random, Deque<long[]> reclaims) {
        int list = index.find(id);
        int what = random.nextInt(10);
        if (list == ListIndex.NONE) {
            list = index.create(id, lsn, 0);
            index.append(list, Region.inLog(8L * random.nextInt(1 << 30), 8), lsn);
        } else if (what < 8) {
            index.append(list, Region.inLog(8L * random.nextInt(1 << 30), 8), lsn);
        } else {
            if (what == 8) {
                index.trimTo(list, index.first(list) + random.nextInt(3), lsn);
            } else {
                index.remove(list, lsn);
            }
            index.queued(list);
            reclaims.add(new long[] {list, index.first(list)});
        }
        long[] reclaim = random.nextBoolean() ? reclaims.poll() : null;
        if (reclaim != null) {
            index.reclaim((int) reclaim[0], reclaim[1], Integer.MAX_VALUE, region -> {});
            index.unqueued((int) reclaim[0]);
        }
    }

    /** Checks that a walk takes each list with retained entries in the log, regardless of changes to the lists. */
    @Test
    void walkTakesEveryListWithEntriesInLog() {
        Seeds.forEach(Rounds.of(20, 2_000), seed -> {
            Random random = new Random(seed);
            ListIndex index = new ListIndex();
            Deque<long[]> reclaims = new ArrayDeque<>();
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 200; i++) {
                    change(index, random.nextInt(IDS), 1_000L * round + i, random, reclaims);
                }
                Set<Integer> taken = takeYoung(index, random);
                for (long id = 0; id < IDS; id++) {
                    int list = index.find(id);
                    if (list != ListIndex.NONE && index.tenured(list) < index.next(list)) {
                        assertThat(taken).contains(list);
                    }
                }
                for (int list : taken) {
                    tenureSome(index, list, random);
                    index.putYoung(list);
                }
            }
        });
    }

    /**
     * Takes all lists from the walk, and puts some of them back immediately. Those may be taken again if the queue
     * contains their id twice.
     */
    private static Set<Integer> takeYoung(ListIndex index, Random random) {
        Set<Integer> taken = new HashSet<>();
        Set<Integer> putBack = new HashSet<>();
        for (long left = index.youngLists(); left > 0; left--) {
            int list = index.takeYoung();
            if (list != ListIndex.NONE) {
                assertThat(taken.add(list) || putBack.contains(list))
                        .as("taken once")
                        .isTrue();
                if (random.nextInt(4) == 0) {
                    index.putYoung(list);
                    putBack.add(list);
                }
            }
        }
        return taken;
    }

    private static void tenureSome(ListIndex index, int list, Random random) {
        long from = Math.max(index.tenured(list), index.firstKept(list));
        int count = random.nextInt((int) (index.next(list) - from) + 1);
        ListCursor cursor = new ListCursor();
        index.seek(list, from, cursor);
        long[] locations = new long[count];
        index.copyRegions(cursor, locations, 0, count);
        for (int i = 0; i < count; i++) {
            locations[i] = Region.pack(8L * i, Region.length(locations[i]));
        }
        index.seek(list, from, cursor);
        index.tenure(list, cursor, locations, 0, count);
    }

    @Test
    void seeksThroughLongListInStepsWhileItIsTrimmed() {
        ListIndex index = new ListIndex();
        int entries = 300_000;
        int list = index.create(1, 1, 0);
        for (int i = 0; i < entries; i++) {
            index.append(list, Region.pack(8L * i, 8), 1);
        }
        ListCursor cursor = new ListCursor();
        int target = entries * 9 / 10;
        int steps = 1;
        for (int trimmed = 0; steps < 1_000 && !index.seek(list, target, cursor, 8); steps++) {
            // Frees the entries before the cursor and, at every third step, 5,000 entries after it.
            trimmed = (int) Math.max(trimmed, cursor.sequence() + (steps % 3 == 0 ? 5_000 : 0));
            index.trimTo(list, trimmed, 2);
            index.reclaim(list, trimmed, Integer.MAX_VALUE, region -> {});
        }
        assertThat(steps).isBetween(8, 100);
        long[] found = new long[2];
        index.copyRegions(cursor, found, 0, 2);
        assertThat(found).containsExactly(Region.pack(8L * target, 8), Region.pack(8L * (target + 1), 8));
    }

    /** Checks that a list loaded from a checkpoint has no small chunks at its end, as if it had grown. */
    @Test
    void newestEntriesOfLoadedListAreFoundDirectly() {
        ListIndex index = new ListIndex();
        int list = index.create(1, 4096, 0);
        int count = 1024;
        ByteBuffer piece = ByteBuffer.allocate(count * Long.BYTES);
        for (int i = 0; i < count; i++) {
            piece.putLong(i * Long.BYTES, Region.pack(8L * i, 8));
        }
        for (int pieces = 0; pieces < 100; pieces++) {
            index.append(list, piece, 0, count, 4097);
        }
        assertThat(index.seek(list, index.next(list) - 10, new ListCursor(), 1)).isTrue();
    }
}
