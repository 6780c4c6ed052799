package io.caravan.inspect;

import io.caravan.format.Region;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The known entries of one list in a damaged store, and their places. A run of missing entries takes no memory,
 * regardless of its length.
 */
final class SalvagedList {
    /** The creation LSN of a list whose first record is lost. */
    static final long UNKNOWN = -1;

    private static final int FIRST_CAPACITY = 4;

    final long creationLsn;
    /** The known entries, in the order of their sequences. */
    final List<Run> runs = new ArrayList<>();

    private long first;
    private long next;

    /** Known entries with consecutive sequences. */
    static final class Run {
        private long first;
        private long[] regions = new long[FIRST_CAPACITY];
        private int count;

        private Run(long first) {
            this.first = first;
        }

        private void append(long region) {
            if (count == regions.length) {
                regions = Arrays.copyOf(regions, count * 2);
            }
            regions[count++] = region;
        }

        private void trimTo(long sequence) {
            if (sequence > first) {
                int dropped = (int) (sequence - first);
                regions = Arrays.copyOfRange(regions, dropped, count + 1);
                count -= dropped;
                first = sequence;
            }
        }

        /** Returns the sequence of the first entry. */
        long first() {
            return first;
        }

        /** Returns the sequence after the last entry. */
        long end() {
            return first + count;
        }

        long region(long sequence) {
            return regions[(int) (sequence - first)];
        }
    }

    SalvagedList(long creationLsn, long first) {
        this.creationLsn = creationLsn;
        this.first = first;
        this.next = first;
    }

    long first() {
        return first;
    }

    long next() {
        return next;
    }

    /** Returns the number of known entries. */
    int count() {
        return runs.stream().mapToInt(run -> run.count).sum();
    }

    /** Returns the total length of the known values, in bytes. */
    long bytes() {
        return runs.stream()
                .flatMapToLong(run -> Arrays.stream(run.regions, 0, run.count))
                .map(Region::length)
                .sum();
    }

    /** Adds the next entry. */
    void append(long region) {
        Run last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
        if (last == null || last.end() != next) {
            last = new Run(next);
            runs.add(last);
        }
        last.append(region);
        next++;
    }

    /** Records that the next entry has this sequence, and that the entries before it are missing. */
    void skipTo(long sequence) {
        next = Math.max(next, sequence);
    }

    /** Replaces the place of an entry, if the entry is known. */
    void replace(long sequence, long region) {
        for (Run run : runs) {
            if (sequence >= run.first && sequence < run.end()) {
                run.regions[(int) (sequence - run.first)] = region;
            }
        }
    }

    void trimTo(long sequence) {
        first = Math.max(first, Math.min(sequence, next));
        runs.removeIf(run -> run.end() <= first);
        if (!runs.isEmpty()) {
            runs.get(0).trimTo(first);
        }
    }
}
