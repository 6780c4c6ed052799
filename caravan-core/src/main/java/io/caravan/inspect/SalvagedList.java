package io.caravan.inspect;

import io.caravan.format.Region;
import java.util.Arrays;

/**
 * The known entries of one list in a damaged store, and their places, in the order of their sequences. Missing entries
 * take no memory, regardless of their number.
 */
final class SalvagedList {
    /** The creation LSN of a list whose first record is lost. */
    static final long UNKNOWN = -1;

    private static final int FIRST_CAPACITY = 4;

    final long creationLsn;
    private long first;
    private long next;
    private long[] sequences = new long[FIRST_CAPACITY];
    private long[] regions = new long[FIRST_CAPACITY];
    private int count;

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
        return count;
    }

    long sequence(int entry) {
        return sequences[entry];
    }

    long region(int entry) {
        return regions[entry];
    }

    /** Returns the number of known entries before this sequence. */
    int countBefore(long sequence) {
        int found = Arrays.binarySearch(sequences, 0, count, sequence);
        return found < 0 ? -found - 1 : found;
    }

    /** Returns the total length of the known values, in bytes. */
    long bytes() {
        return Arrays.stream(regions, 0, count).map(Region::length).sum();
    }

    /** Returns the sequence after the last known entry, or the first sequence if no entry is known. */
    long knownEnd() {
        return count == 0 ? first : sequences[count - 1] + 1;
    }

    /** Adds an entry after the last known entry. The entries between them are missing. */
    void append(long sequence, long region) {
        if (count == regions.length) {
            sequences = Arrays.copyOf(sequences, count * 2);
            regions = Arrays.copyOf(regions, count * 2);
        }
        sequences[count] = sequence;
        regions[count++] = region;
        extendTo(sequence + 1);
    }

    /** Records that the list's next sequence is at least this one. */
    void extendTo(long sequence) {
        next = Math.max(next, sequence);
    }

    /** Replaces the place of an entry, if the entry is known. */
    void replace(long sequence, long region) {
        int entry = countBefore(sequence);
        if (entry < count && sequences[entry] == sequence) {
            regions[entry] = region;
        }
    }

    void trimTo(long sequence) {
        first = Math.max(first, Math.min(sequence, next));
        int dropped = countBefore(first);
        if (dropped > 0) {
            int capacity = Math.max(FIRST_CAPACITY, count - dropped);
            sequences = Arrays.copyOfRange(sequences, dropped, dropped + capacity);
            regions = Arrays.copyOfRange(regions, dropped, dropped + capacity);
            count -= dropped;
        }
    }
}
