package io.caravan.collections;

import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.function.IntToLongFunction;

/**
 * A leaf of a {@link SlotTable}: a small hash table with open addressing and linear probing. Deletion shifts entries
 * back instead of leaving tombstones (Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithm R).
 *
 * <p>A read of a slot's key usually causes a cache miss. Each entry therefore has a tag above the slot: the four bits
 * of the hash that follow the bits shared by all keys of the bucket. The tag avoids fifteen of sixteen reads of
 * nonmatching keys, and divides a large bucket into sixteen ranges of hashes.
 */
final class SlotBucket {
    /** The maximum number of slots, which bounds the work of a rehash, a burst, or a join. */
    static final int MAX_SLOTS = 1536;

    private static final int EMPTY = -1;
    private static final int FIRST_CAPACITY = 4;
    private static final int TAG_SHIFT = 28;
    static final int TAG_BITS = Integer.SIZE - TAG_SHIFT;
    private static final int SLOT_MASK = (1 << TAG_SHIFT) - 1;
    /** The maximum slot: one less than the mask, so that no entry equals the empty entry. */
    static final int MAX_SLOT = SLOT_MASK - 1;
    /** Approximate memory that a bucket's objects take in addition to the entries, in bytes. */
    private static final int HEADER_BYTES = 40;

    private int[] entries;
    private int size;

    SlotBucket() {
        entries = newEntries(FIRST_CAPACITY);
    }

    SlotBucket(SlotBucket other) {
        entries = other.entries.clone();
        size = other.size;
    }

    private static int[] newEntries(int capacity) {
        int[] entries = new int[capacity];
        Arrays.fill(entries, EMPTY);
        return entries;
    }

    int size() {
        return size;
    }

    boolean isFull() {
        return size == MAX_SLOTS;
    }

    int find(long key, long hash, int tag, IntToLongFunction keys) {
        int mask = entries.length - 1;
        for (int i = (int) hash & mask; entries[i] != EMPTY; i = i + 1 & mask) {
            int entry = entries[i];
            if (entry >>> TAG_SHIFT == tag && keys.applyAsLong(entry & SLOT_MASK) == key) {
                return entry & SLOT_MASK;
            }
        }
        return SlotTable.NONE;
    }

    void add(int slot, long hash, int tag, IntToLongFunction keys) {
        if (4 * (size + 1) > 3 * entries.length) {
            resize(entries.length * 2, keys);
        }
        place(tag << TAG_SHIFT | slot, hash);
        size++;
    }

    private void place(int entry, long hash) {
        int mask = entries.length - 1;
        int i = (int) hash & mask;
        while (entries[i] != EMPTY) {
            i = i + 1 & mask;
        }
        entries[i] = entry;
    }

    /** Removes a slot from the bucket. Returns whether the bucket now takes less memory. */
    boolean remove(int slot, long hash, IntToLongFunction keys) {
        int mask = entries.length - 1;
        int hole = (int) hash & mask;
        while ((entries[hole] & SLOT_MASK) != slot) {
            if (entries[hole] == EMPTY) {
                throw missing(slot);
            }
            hole = hole + 1 & mask;
        }
        for (int i = hole + 1 & mask; entries[i] != EMPTY; i = i + 1 & mask) {
            int home = (int) SlotTable.hash(keys.applyAsLong(entries[i] & SLOT_MASK)) & mask;
            if ((i - home & mask) >= (i - hole & mask)) {
                entries[hole] = entries[i];
                hole = i;
            }
        }
        entries[hole] = EMPTY;
        size--;
        boolean sparse = entries.length > FIRST_CAPACITY && 8 * size < entries.length;
        if (sparse) {
            resize(entries.length / 2, keys);
        }
        return sparse;
    }

    private void resize(int capacity, IntToLongFunction keys) {
        int[] old = entries;
        entries = newEntries(capacity);
        for (int entry : old) {
            if (entry != EMPTY) {
                place(entry, SlotTable.hash(keys.applyAsLong(entry & SLOT_MASK)));
            }
        }
    }

    void forEach(IntConsumer action) {
        for (int entry : entries) {
            if (entry != EMPTY) {
                action.accept(entry & SLOT_MASK);
            }
        }
    }

    /** Calls the action with the slots whose entries have this tag. */
    void forEach(int tag, IntConsumer action) {
        for (int entry : entries) {
            if (entry != EMPTY && entry >>> TAG_SHIFT == tag) {
                action.accept(entry & SLOT_MASK);
            }
        }
    }

    long memoryBytes() {
        return HEADER_BYTES + (long) entries.length * Integer.BYTES;
    }

    static IllegalStateException missing(int slot) {
        return new IllegalStateException("slot " + slot + " is not in the table");
    }
}
