package io.caravan.collections;

import java.util.function.IntConsumer;

/**
 * A hash table from long keys to slots (non-negative ints) that keeps the slots only; a slot's key is asked of whoever
 * keeps it. Open addressing with linear probing, and deletion that shifts back instead of leaving marks (Knuth, The Art
 * of Computer Programming, volume 3, section 6.4, algorithm R). Not thread-safe.
 *
 * <p>To ask for a key is a cache miss. An entry of the table therefore has four bits of the key's hash above the slot, which
 * spare fifteen of sixteen questions that would be in vain.
 */
public final class SlotTable {
    private static final int EMPTY = -1;
    private static final int FIRST_CAPACITY = 4;
    private static final int TAG_SHIFT = 28;
    private static final int SLOT_MASK = (1 << TAG_SHIFT) - 1;
    /** So that no entry looks like an empty one. */
    private static final int MAX_SLOT = SLOT_MASK - 1;

    /** Tells the key of a slot that is in the table. */
    @FunctionalInterface
    public interface Keys {
        long key(int slot);
    }

    private final Keys keys;
    private int[] entries = new int[0];
    private int size;

    public SlotTable(Keys keys) {
        this.keys = keys;
    }

    /** Mixes a key's bits so that every bit of the result depends on every bit of the key. */
    public static long hash(long key) {
        long h = (key ^ key >>> 32) * 0x9E37_79B9_7F4A_7C15L;
        h = (h ^ h >>> 29) * 0xBF58_476D_1CE4_E5B9L;
        return h ^ h >>> 32;
    }

    public int size() {
        return size;
    }

    /** The slot with this key, or -1. */
    public int find(long key) {
        if (size == 0) {
            return -1;
        }
        int mask = entries.length - 1;
        long hash = hash(key);
        int tag = tag(hash);
        for (int i = (int) hash & mask; entries[i] != EMPTY; i = i + 1 & mask) {
            int entry = entries[i];
            if (entry >>> TAG_SHIFT == tag && keys.key(entry & SLOT_MASK) == key) {
                return entry & SLOT_MASK;
            }
        }
        return -1;
    }

    /** Bits that neither choose the place in a table, nor one of 1,024 tables. */
    private static int tag(long hash) {
        return (int) (hash >>> 40) & EMPTY >>> TAG_SHIFT;
    }

    /** Adds a slot whose key is not in the table. */
    public void add(int slot) {
        if (slot > MAX_SLOT) {
            throw new IllegalStateException("more than 2^28 slots");
        }
        if (4 * (size + 1) > 3 * entries.length) {
            resize(Math.max(FIRST_CAPACITY, entries.length * 2));
        }
        place(slot);
        size++;
    }

    private void place(int slot) {
        int mask = entries.length - 1;
        long hash = hash(keys.key(slot));
        int i = (int) hash & mask;
        while (entries[i] != EMPTY) {
            i = i + 1 & mask;
        }
        entries[i] = tag(hash) << TAG_SHIFT | slot;
    }

    private int home(int slot) {
        return (int) hash(keys.key(slot)) & entries.length - 1;
    }

    /** Removes a slot; its key must still be the one it was added with. */
    public void remove(int slot) {
        int mask = entries.length - 1;
        int hole = home(slot);
        while ((entries[hole] & SLOT_MASK) != slot) {
            if (entries[hole] == EMPTY) {
                throw new IllegalStateException("slot " + slot + " is not in the table");
            }
            hole = hole + 1 & mask;
        }
        for (int i = hole + 1 & mask; entries[i] != EMPTY; i = i + 1 & mask) {
            if ((i - home(entries[i] & SLOT_MASK) & mask) >= (i - hole & mask)) {
                entries[hole] = entries[i];
                hole = i;
            }
        }
        entries[hole] = EMPTY;
        size--;
        if (entries.length > FIRST_CAPACITY && 8 * size < entries.length) {
            resize(entries.length / 2);
        }
    }

    private void resize(int capacity) {
        int[] old = entries;
        entries = new int[capacity];
        java.util.Arrays.fill(entries, EMPTY);
        for (int entry : old) {
            if (entry != EMPTY) {
                place(entry & SLOT_MASK);
            }
        }
    }

    /** Calls the action with every slot. The table must not change meanwhile. */
    public void forEach(IntConsumer action) {
        for (int entry : entries) {
            if (entry != EMPTY) {
                action.accept(entry & SLOT_MASK);
            }
        }
    }

    /** Bytes of memory held. */
    public long memoryBytes() {
        return (long) entries.length * Integer.BYTES;
    }
}
