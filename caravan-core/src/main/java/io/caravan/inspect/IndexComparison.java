package io.caravan.inspect;

import io.caravan.format.Region;
import io.caravan.index.ListCursor;
import io.caravan.index.ListIndex;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compares two indexes list by list, region by region. */
final class IndexComparison {
    private static final int SLICE = 1024;

    private IndexComparison() {}

    /** Returns the id of a list that differs between the indexes, or null. */
    static @Nullable Long firstDifference(ListIndex one, ListIndex other) {
        Long difference = firstDifferent(one, other);
        // A list that only the other index has is found by comparing them in reverse.
        return difference == null && one.listCount() != other.listCount() ? firstDifferent(other, one) : difference;
    }

    private static @Nullable Long firstDifferent(ListIndex one, ListIndex other) {
        List<Long> different = new ArrayList<>();
        for (int partition = 0; partition < ListIndex.PARTITIONS && different.isEmpty(); partition++) {
            one.forEachList(partition, list -> {
                int otherList = other.find(one.id(list));
                if (otherList == ListIndex.NONE || !same(one, list, other, otherList)) {
                    different.add(one.id(list));
                }
            });
        }
        return different.isEmpty() ? null : different.get(0);
    }

    private static boolean same(ListIndex one, int list, ListIndex other, int otherList) {
        return one.birth(list) == other.birth(otherList)
                && one.first(list) == other.first(otherList)
                && one.next(list) == other.next(otherList)
                && sameRegions(one, list, other, otherList);
    }

    private static boolean sameRegions(ListIndex one, int list, ListIndex other, int otherList) {
        ListCursor place = new ListCursor();
        ListCursor otherPlace = new ListCursor();
        one.seek(list, one.first(list), place);
        other.seek(otherList, other.first(otherList), otherPlace);
        long[] regions = new long[SLICE];
        long[] otherRegions = new long[SLICE];
        while (place.sequence() < one.next(list)) {
            int count = (int) Math.min(SLICE, one.next(list) - place.sequence());
            one.copyRegions(place, regions, 0, count);
            other.copyRegions(otherPlace, otherRegions, 0, count);
            for (int i = 0; i < count; i++) {
                if (!same(regions[i], otherRegions[i])) {
                    return false;
                }
            }
        }
        return true;
    }

    /**
     * Compares regions. An entry that the newer checkpoint has in the heap may be in the log for the older checkpoint.
     */
    private static boolean same(long region, long other) {
        return region == other
                || Region.isInLog(region) != Region.isInLog(other) && Region.length(region) == Region.length(other);
    }
}
