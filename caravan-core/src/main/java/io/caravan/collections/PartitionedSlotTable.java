package io.caravan.collections;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SlotTable} in many parts by the key's hash, so that one growth step touches one part only and a walk can be
 * made part by part.
 */
public final class PartitionedSlotTable {
    private final SlotTable.Keys keys;
    private final @Nullable SlotTable[] partitions;
    private final int shift;
    private int size;

    /** A table of {@code partitions} parts, a power of two. */
    public PartitionedSlotTable(int partitions, SlotTable.Keys keys) {
        if (Integer.bitCount(partitions) != 1) {
            throw new IllegalArgumentException("partitions must be a power of two, was " + partitions);
        }
        this.keys = keys;
        this.partitions = new SlotTable[partitions];
        this.shift = Long.SIZE - Integer.numberOfTrailingZeros(partitions);
    }

    /** The part that a key belongs to: the top bits of its hash, as the table inside uses the lowest. */
    public int partitionOf(long key) {
        return (int) (SlotTable.hash(key) >>> shift);
    }

    public int size() {
        return size;
    }

    /** The slot with this key, or -1. */
    public int find(long key) {
        SlotTable partition = partitions[partitionOf(key)];
        return partition == null ? -1 : partition.find(key);
    }

    /** Adds a slot whose key is not in the table. */
    public void add(int slot) {
        int number = partitionOf(keys.key(slot));
        SlotTable partition = partitions[number];
        if (partition == null) {
            partition = new SlotTable(keys);
            partitions[number] = partition;
        }
        partition.add(slot);
        size++;
    }

    /** Removes a slot that is in the table. */
    public void remove(int slot) {
        SlotTable partition = partitions[partitionOf(keys.key(slot))];
        if (partition == null) {
            throw new IllegalStateException("slot " + slot + " is not in the table");
        }
        partition.remove(slot);
        size--;
    }

    /** How many slots one part has. */
    public int partitionSize(int number) {
        SlotTable partition = partitions[number];
        return partition == null ? 0 : partition.size();
    }

    /** Calls the action with every slot of one part. The table must not change meanwhile. */
    public void forEach(int number, IntConsumer action) {
        SlotTable partition = partitions[number];
        if (partition != null) {
            partition.forEach(action);
        }
    }

    /** Bytes of memory held. */
    public long memoryBytes() {
        long bytes = (long) partitions.length * Integer.BYTES;
        for (SlotTable partition : partitions) {
            bytes += partition == null ? 0 : partition.memoryBytes();
        }
        return bytes;
    }
}
