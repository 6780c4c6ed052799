package io.caravan.collections;

import java.util.function.IntConsumer;

/**
 * A hash table from long keys to slots (non-negative ints) that keeps the slots only; a slot's key is asked of whoever
 * keeps it. Open addressing with linear probing, and deletion that shifts back instead of leaving marks (Knuth, The Art
 * of Computer Programming, volume 3, section 6.4, algorithm R). A byte of each slot's hash stands beside it: asking for a
 * key is a cache miss, and this spares all but one in 256 of those that would be asked in vain. Not thread-safe.
 */
public final class SlotTable {
    private static final int EMPTY = -1;
    private static final int FIRST_CAPACITY = 4;

    /** Tells the key of a slot that is in the table. */
    @FunctionalInterface
    public interface Keys {
        long key(int slot);
    }

    private final Keys keys;
    private int[] slots = new int[0];
    private byte[] tags = new byte[0];
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
        int mask = slots.length - 1;
        long hash = hash(key);
        byte tag = tag(hash);
        for (int i = (int) hash & mask; slots[i] != EMPTY; i = i + 1 & mask) {
            if (tags[i] == tag && keys.key(slots[i]) == key) {
                return slots[i];
            }
        }
        return -1;
    }

    /** Bits that neither choose the place in a table of fewer than 2^32 slots, nor one of 256 partitions. */
    private static byte tag(long hash) {
        return (byte) (hash >>> 40);
    }

    /** Adds a slot whose key is not in the table. */
    public void add(int slot) {
        if (4 * (size + 1) > 3 * slots.length) {
            resize(Math.max(FIRST_CAPACITY, slots.length * 2));
        }
        place(slot);
        size++;
    }

    private void place(int slot) {
        int mask = slots.length - 1;
        long hash = hash(keys.key(slot));
        int i = (int) hash & mask;
        while (slots[i] != EMPTY) {
            i = i + 1 & mask;
        }
        slots[i] = slot;
        tags[i] = tag(hash);
    }

    private int home(int slot) {
        return (int) hash(keys.key(slot)) & slots.length - 1;
    }

    /** Removes a slot; its key must still be the one it was added with. */
    public void remove(int slot) {
        int mask = slots.length - 1;
        int hole = home(slot);
        while (slots[hole] != slot) {
            if (slots[hole] == EMPTY) {
                throw new IllegalStateException("slot " + slot + " is not in the table");
            }
            hole = hole + 1 & mask;
        }
        for (int i = hole + 1 & mask; slots[i] != EMPTY; i = i + 1 & mask) {
            if ((i - home(slots[i]) & mask) >= (i - hole & mask)) {
                slots[hole] = slots[i];
                tags[hole] = tags[i];
                hole = i;
            }
        }
        slots[hole] = EMPTY;
        size--;
        if (slots.length > FIRST_CAPACITY && 8 * size < slots.length) {
            resize(slots.length / 2);
        }
    }

    private void resize(int capacity) {
        int[] old = slots;
        slots = new int[capacity];
        tags = new byte[capacity];
        java.util.Arrays.fill(slots, EMPTY);
        for (int slot : old) {
            if (slot != EMPTY) {
                place(slot);
            }
        }
    }

    /** Calls the action with every slot. The table must not change meanwhile. */
    public void forEach(IntConsumer action) {
        for (int slot : slots) {
            if (slot != EMPTY) {
                action.accept(slot);
            }
        }
    }

    /** Bytes of memory held. */
    public long memoryBytes() {
        return (long) slots.length * (Integer.BYTES + Byte.BYTES);
    }
}
