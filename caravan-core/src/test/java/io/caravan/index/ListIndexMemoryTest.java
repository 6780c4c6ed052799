package io.caravan.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.format.Region;
import io.caravan.testing.Rounds;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tests the memory that the index needs, releases, and reuses. */
class ListIndexMemoryTest {
    private static final Logger LOGGER = LoggerFactory.getLogger(ListIndexMemoryTest.class);
    /** The memory of one page of records and one page of chunks, which may be partly used. */
    private static final long PARTLY_USED_PAGES_BYTES = 2 * 65_536 + 4096;

    @Test
    void releasesMemoryOfTrimmedAndRemovedLists() {
        ListIndex index = new ListIndex();
        long empty = index.memoryBytes();
        int lists = 20_000;
        int[] created =
                IntStream.range(0, lists).map(i -> index.create(i, 1, 0)).toArray();
        long withLists = index.memoryBytes();
        for (int entry = 0; entry < 20; entry++) {
            for (int list : created) {
                index.append(list, Region.pack(8, 8), 1);
            }
        }
        for (int list : created) {
            index.trimTo(list, 20, 2);
            index.reclaim(list, 20, Integer.MAX_VALUE, region -> {});
        }
        assertThat(index.memoryBytes()).as("chunks").isLessThanOrEqualTo(withLists + PARTLY_USED_PAGES_BYTES);
        for (int list : created) {
            index.remove(list, 3);
            index.queued(list);
            index.unqueued(list);
        }
        assertThat(index.memoryBytes())
                .as("records and tables")
                .isLessThanOrEqualTo(empty + 100_000 + PARTLY_USED_PAGES_BYTES);
    }

    /**
     * Checks that adjacent freed chunks of short lists merge, and are reused for the far larger chunks of a long list.
     * One short list in ten keeps its chunks.
     */
    @Test
    void longListReusesSpaceOfFreedSmallChunks() {
        ListIndex index = new ListIndex();
        int lists = 20_000;
        int[] created = new int[lists];
        for (int i = 0; i < lists; i++) {
            created[i] = index.create(i, 1, 0);
            for (int entry = 0; entry < 60; entry++) {
                index.append(created[i], Region.pack(8, 8), 1);
            }
        }
        for (int i = 0; i < lists; i++) {
            if (i % 100 >= 10) {
                index.trimTo(created[i], 60, 2);
                index.reclaim(created[i], 60, Integer.MAX_VALUE, region -> {});
            }
        }
        long before = index.memoryBytes();
        int longList = index.create(lists, 1, 0);
        for (int entry = 0; entry < 100_000; entry++) {
            index.append(longList, Region.pack(8, 8), 3);
        }
        assertThat(index.memoryBytes() - before).isLessThan(100_000 * 8 / 2);
    }

    /** Checks the design's bounds on memory use: 12 bytes per entry and 100 bytes per list. */
    @ParameterizedTest
    @CsvSource({"10000, 200", "100000, 20", "1, 1000000", "500000, 1", "20000, 0", "300000, 3"})
    void memoryStaysWithinBounds(int lists, int entriesEach) {
        ListIndex index = new ListIndex();
        long empty = index.memoryBytes();
        long region = Region.pack(4096, 8);
        int[] created = IntStream.range(0, lists)
                .map(i -> index.create(7L * i, 4096, 0))
                .toArray();
        for (int entry = 0; entry < entriesEach; entry++) {
            for (int list : created) {
                index.append(list, region, 4096);
            }
        }
        long bytes = index.memoryBytes() - empty;
        long bound = 100L * lists + 12L * lists * entriesEach;
        LOGGER.info(
                "{} lists of {} entries: {} bytes, {} allowed; {} an entry when a list takes 100",
                lists,
                entriesEach,
                bytes,
                bound,
                entriesEach == 0 ? 0 : (bytes - 100.0 * lists) / ((double) lists * entriesEach));
        assertThat(bytes).isLessThanOrEqualTo(bound + PARTLY_USED_PAGES_BYTES);
    }

    /** Checks that lists of unfavorable lengths, whose last chunk is nearly empty, take at most 20 more bytes each. */
    @Test
    @Tag("rounds")
    void listOfAnyLengthStaysNearMemoryBound() {
        int lists = Rounds.of(1_000, 5_000);
        for (int entriesEach = 1; entriesEach <= 150; entriesEach++) {
            ListIndex index = new ListIndex();
            long empty = index.memoryBytes();
            for (int i = 0; i < lists; i++) {
                int list = index.create(i, 4096, 0);
                for (int entry = 0; entry < entriesEach; entry++) {
                    index.append(list, Region.pack(4096, 8), 4096);
                }
            }
            long bytes = index.memoryBytes() - empty - PARTLY_USED_PAGES_BYTES;
            assertThat(bytes / lists).as("lists of " + entriesEach).isLessThanOrEqualTo(120 + 12L * entriesEach);
        }
    }
}
