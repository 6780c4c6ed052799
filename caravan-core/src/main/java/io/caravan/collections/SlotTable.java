package io.caravan.collections;

import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A hash table from long keys to slots (ints from 0). It stores only the slots; a function returns the key of a slot.
 * Not thread-safe.
 *
 * <p>The work of each operation is bounded, regardless of the size of the table. The table is a tree over the bits of
 * the hash, starting with the highest. It consists of an array of partitions, nodes of eight children, and {@link
 * SlotBucket}s of at most {@link SlotBucket#MAX_SLOTS} slots as leaves.
 *
 * <p>A full bucket bursts into a node of eight buckets, and no other bucket changes (Heinz, Zobel and Williams, "Burst
 * Tries", ACM TOIS 2002). A node whose buckets have become nearly empty is joined back into one bucket. The hash is a
 * bijection, so different keys have different hashes, and no path is longer than a hash.
 *
 * <p>Buckets are in the order of their hashes. A walk visits one bucket after another. The position of a walk is a
 * hash, so the table may change between two steps.
 *
 * <p>The table can be {@linkplain #freeze frozen}, like {@link LongPages}: a part that the table shares with the frozen
 * tree is copied before it changes.
 */
public final class SlotTable {
    /** The result of {@link #find} if no slot has the key. */
    public static final int NONE = -1;

    /** Maximum number of slots that one step of a walk visits. Most steps visit at most {@value #STEP_SLOTS}. */
    public static final int MAX_STEP_SLOTS = SlotBucket.MAX_SLOTS;

    /** Maximum size of a bucket that one step visits entirely. A larger one takes sixteen steps, one for each range. */
    private static final int STEP_SLOTS = 192;

    private static final int FAN_OUT_LOG2 = 3;
    private static final int FAN_OUT = 1 << FAN_OUT_LOG2;
    /** Maximum size of a joined bucket: far below a bucket's capacity, so that no burst soon follows a join. */
    private static final int JOINED_SLOTS = SlotBucket.MAX_SLOTS / 4;

    /** Maps each slot in the table to its key. */
    private final IntToLongFunction keys;
    /** The root of the tree. Each element of a node (an {@code Object[]}) is null, a bucket, or another node. */
    private final @Nullable Object[] root;
    /** The root at the time of the freeze; null if the table is not frozen. */
    private @Nullable Object frozenRoot;
    /** Number of bits by which a hash is shifted right to obtain the partition. */
    private final int rootShift;

    private int size;

    /** Creates a table with this number of partitions, a power of two and at least two. */
    public SlotTable(int partitions, IntToLongFunction keys) {
        if (partitions < 2 || Integer.bitCount(partitions) != 1) {
            throw new IllegalArgumentException("partitions must be a power of two from 2 on, was " + partitions);
        }
        this.keys = keys;
        this.root = new Object[partitions];
        this.rootShift = Long.SIZE - Integer.numberOfTrailingZeros(partitions);
    }

    private SlotTable(SlotTable of, IntToLongFunction keys) {
        this.keys = keys;
        this.root = of.root.clone();
        this.rootShift = of.rootShift;
        this.size = of.size;
    }

    /**
     * Returns a frozen table with the current contents. It can be walked until {@link #thaw}, while this table changes.
     *
     * @param frozenKeys maps the slots to their keys at the time of the freeze
     */
    public SlotTable freeze(IntToLongFunction frozenKeys) {
        SlotTable frozen = new SlotTable(this, frozenKeys);
        frozenRoot = frozen.root;
        return frozen;
    }

    /** Ends the freeze. The frozen table must no longer be read. */
    public void thaw() {
        frozenRoot = null;
    }

    /** Returns a node's child for modification by the caller. Copies the child first if the frozen tree shares it. */
    private static @Nullable Object childToChange(@Nullable Object[] node, @Nullable Object frozen, int at) {
        Object child = node[at];
        if (child != null && child == childOf(frozen, at)) {
            child = child instanceof SlotBucket bucket ? new SlotBucket(bucket) : ((Object[]) child).clone();
            node[at] = child;
        }
        return child;
    }

    private static @Nullable Object childOf(@Nullable Object frozen, int at) {
        return frozen instanceof Object[] node ? node[at] : null;
    }

    /** Mixes a key's bits, so that every bit of the result depends on every bit of the key. A bijection. */
    public static long hash(long key) {
        long h = (key ^ key >>> 32) * 0x9E37_79B9_7F4A_7C15L;
        h = (h ^ h >>> 29) * 0xBF58_476D_1CE4_E5B9L;
        return h ^ h >>> 32;
    }

    public int size() {
        return size;
    }

    /** Returns the slot with this key, or {@link #NONE}. */
    public int find(long key) {
        long hash = hash(key);
        int shift = rootShift + FAN_OUT_LOG2;
        Object child = root;
        while (child instanceof Object[] node) {
            shift -= FAN_OUT_LOG2;
            child = node[childOf(node, hash, shift)];
        }
        return child == null ? NONE : ((SlotBucket) child).find(key, hash, tag(hash, shift), keys);
    }

    /** Returns the tag of a hash in a bucket whose keys' hashes differ only in the lowest {@code shift} bits. */
    private static int tag(long hash, int shift) {
        return (int) (hash >>> shift - SlotBucket.TAG_BITS) & (1 << SlotBucket.TAG_BITS) - 1;
    }

    private static int childOf(@Nullable Object[] node, long hash, int shift) {
        return (int) (hash >>> shift) & node.length - 1;
    }

    /** Adds a slot whose key is not in the table. */
    public void add(int slot) {
        if (slot > SlotBucket.MAX_SLOT) {
            throw new IllegalStateException("slot " + slot + " is beyond the last of a table, " + SlotBucket.MAX_SLOT);
        }
        add(root, frozenRoot, rootShift, slot, hash(keys.applyAsLong(slot)));
        size++;
    }

    private void add(@Nullable Object[] node, @Nullable Object frozen, int shift, int slot, long hash) {
        int at = childOf(node, hash, shift);
        Object child = childToChange(node, frozen, at);
        if (child == null) {
            child = new SlotBucket();
            node[at] = child;
        } else if (child instanceof SlotBucket full && full.isFull()) {
            child = burst(full, shift - FAN_OUT_LOG2);
            node[at] = child;
        }
        if (child instanceof Object[] inner) {
            add(inner, childOf(frozen, at), shift - FAN_OUT_LOG2, slot, hash);
        } else {
            ((SlotBucket) child).add(slot, hash, tag(hash, shift), keys);
        }
    }

    private Object[] burst(SlotBucket full, int shift) {
        Object[] node = new Object[FAN_OUT];
        full.forEach(slot -> add(node, null, shift, slot, hash(keys.applyAsLong(slot))));
        return node;
    }

    /** Removes a slot that is in the table. Its key must not have changed since it was added. */
    public void remove(int slot) {
        remove(root, frozenRoot, rootShift, slot, hash(keys.applyAsLong(slot)));
        size--;
    }

    /** Removes a slot under a node. Returns whether the removal freed memory; the node may then be worth joining. */
    private boolean remove(@Nullable Object[] node, @Nullable Object frozen, int shift, int slot, long hash) {
        int at = childOf(node, hash, shift);
        Object child = childToChange(node, frozen, at);
        if (child instanceof SlotBucket bucket) {
            return bucket.remove(slot, hash, keys);
        }
        if (!(child instanceof Object[] inner)) {
            throw SlotBucket.missing(slot);
        }
        boolean freed = remove(inner, childOf(frozen, at), shift - FAN_OUT_LOG2, slot, hash);
        SlotBucket joined = freed ? joined(inner, shift) : null;
        if (joined != null) {
            node[at] = joined;
        }
        return joined != null;
    }

    /** Joins a node's buckets into one. Returns null if they have too many slots, or a child is itself a node. */
    private @Nullable SlotBucket joined(@Nullable Object[] node, int shift) {
        int slots = 0;
        for (Object child : node) {
            if (child instanceof Object[]) {
                return null;
            }
            slots += child instanceof SlotBucket bucket ? bucket.size() : 0;
        }
        if (slots > JOINED_SLOTS) {
            return null;
        }
        SlotBucket joined = new SlotBucket();
        for (Object child : node) {
            if (child instanceof SlotBucket bucket) {
                bucket.forEach(slot -> {
                    long hash = hash(keys.applyAsLong(slot));
                    joined.add(slot, hash, tag(hash, shift), keys);
                });
            }
        }
        return joined;
    }

    /** Whether a walk that has reached this position has yet to visit the slot of a key in the table. */
    private static boolean isAhead(long key, long position) {
        return Long.compareUnsigned(hash(key), position) >= 0;
    }

    /**
     * Performs one step of a walk: calls the action with the slots from this position to the end of its bucket or, in a
     * large bucket, to the end of one range. A slot that is in the table during the entire walk is visited once.
     *
     * @return the position of the next step
     */
    public long visit(long position, IntConsumer action) {
        int shift = rootShift + FAN_OUT_LOG2;
        Object child = root;
        while (child instanceof Object[] node) {
            shift -= FAN_OUT_LOG2;
            child = node[childOf(node, position, shift)];
        }
        if (!(child instanceof SlotBucket bucket)) {
            return endOfRange(position, shift);
        }
        // A bucket that was joined since the last step begins before the position.
        IntConsumer ahead = slot -> {
            if (isAhead(keys.applyAsLong(slot), position)) {
                action.accept(slot);
            }
        };
        if (bucket.size() > STEP_SLOTS) {
            bucket.forEach(tag(position, shift), ahead);
            return endOfRange(position, shift - SlotBucket.TAG_BITS);
        }
        bucket.forEach(ahead);
        return endOfRange(position, shift);
    }

    /** Returns the end of the range of hashes that share all bits with this hash except the lowest {@code shift}. */
    private static long endOfRange(long hash, int shift) {
        return (hash >>> shift) + 1 << shift;
    }

    /** Calls the action with every slot of a partition. The table must not change during the call. */
    public void forEach(int partition, IntConsumer action) {
        long position = (long) partition << rootShift;
        do {
            position = visit(position, action);
        } while (position >>> rootShift == partition);
    }

    public long memoryBytes() {
        return memoryBytes(root);
    }

    private static long memoryBytes(@Nullable Object[] node) {
        return (long) node.length * Integer.BYTES
                + Arrays.stream(node)
                        .mapToLong(child -> child instanceof Object[] inner
                                ? memoryBytes(inner)
                                : child instanceof SlotBucket bucket ? bucket.memoryBytes() : 0)
                        .sum();
    }
}
