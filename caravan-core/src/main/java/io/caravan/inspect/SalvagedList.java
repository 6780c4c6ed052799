package io.caravan.inspect;

import io.caravan.format.Region;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The known entries of one list in a damaged store, and their places. A run of missing entries takes constant memory,
 * regardless of its length.
 */
final class SalvagedList {
    /** The creation LSN of a list whose first record is lost. */
    static final long UNKNOWN = -1;

    private static final int FIRST_CAPACITY = 4;

    /** A run of missing sequences before the region at this index. */
    private record Gap(int index, long count) {}

    private final long creationLsn;
    private long first;
    private long next;
    private long[] regions = new long[FIRST_CAPACITY];
    private int count;
    private final List<Gap> gaps = new ArrayList<>();

    SalvagedList(long creationLsn, long first) {
        this.creationLsn = creationLsn;
        this.first = first;
        this.next = first;
    }

    /** Receives entries in the order of their sequences. */
    interface EntryVisitor<X extends Exception> {
        void entry(long sequence, long region) throws X;

        void gap(long firstSequence, long lastSequence) throws X;
    }

    long creationLsn() {
        return creationLsn;
    }

    long first() {
        return first;
    }

    long next() {
        return next;
    }

    /** Returns the number of known entries. */
    int count() {
        return count;
    }

    /** Returns the total length of the known values, in bytes. */
    long bytes() {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += Region.length(regions[i]);
        }
        return bytes;
    }

    void append(long region) {
        if (count == regions.length) {
            regions = Arrays.copyOf(regions, Math.max(FIRST_CAPACITY, count * 2));
        }
        regions[count++] = region;
        next++;
    }

    /** Records that the next entry has this sequence, and that the entries before it are missing. */
    void skipTo(long sequence) {
        if (sequence > next) {
            gaps.add(new Gap(count, sequence - next));
            next = sequence;
        }
    }

    void replace(long sequence, long region) {
        long at = sequence - first;
        for (Gap gap : gaps) {
            if (gap.index() <= at) {
                at -= gap.count();
                if (at < gap.index()) {
                    return;
                }
            }
        }
        if (at >= 0 && at < count) {
            regions[(int) at] = region;
        }
    }

    void trimTo(long sequence) {
        long to = Math.min(sequence, next);
        while (first < to) {
            if (!gaps.isEmpty() && gaps.get(0).index() == 0) {
                Gap gap = gaps.remove(0);
                long dropped = Math.min(gap.count(), to - first);
                first += dropped;
                if (dropped < gap.count()) {
                    gaps.add(0, new Gap(0, gap.count() - dropped));
                }
            } else {
                long upTo = gaps.isEmpty() ? count : gaps.get(0).index();
                dropFirst((int) Math.min(upTo, to - first));
            }
        }
    }

    private void dropFirst(int dropped) {
        regions = Arrays.copyOfRange(regions, dropped, Math.max(count, dropped + 1));
        count -= dropped;
        first += dropped;
        gaps.replaceAll(gap -> new Gap(gap.index() - dropped, gap.count()));
    }

    <X extends Exception> void forEach(EntryVisitor<X> visitor) throws X {
        long sequence = first;
        int gap = 0;
        for (int i = 0; i <= count; i++) {
            while (gap < gaps.size() && gaps.get(gap).index() == i) {
                long missing = gaps.get(gap++).count();
                visitor.gap(sequence, sequence + missing - 1);
                sequence += missing;
            }
            if (i < count) {
                visitor.entry(sequence++, regions[i]);
            }
        }
    }
}
