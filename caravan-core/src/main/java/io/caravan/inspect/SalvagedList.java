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

    /** Returns the sequence after the last known entry, or the first sequence if no entry is known. */
    long knownEnd() {
        return runs.isEmpty() ? first : runs.get(runs.size() - 1).end();
    }

    /** Adds an entry after the last known entry. The entries between them are missing. */
    void append(long sequence, long region) {
        if (runs.isEmpty() || knownEnd() != sequence) {
            runs.add(new Run(sequence));
        }
        runs.get(runs.size() - 1).append(region);
        extendTo(sequence + 1);
    }

    /** Records that the list's next sequence is at least this one. */
    void extendTo(long sequence) {
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
