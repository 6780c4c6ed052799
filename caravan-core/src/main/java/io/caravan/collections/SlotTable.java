package io.caravan.collections;

import java.util.Arrays;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A hash table from long keys to slots (ints from 0 on) that stores the slots only: the owner of a slot knows its key.
 * Not thread-safe.
 *
 * <p>No operation does work that grows with the table. The table is a tree over the bits of the hash, from the top: an
 * array of partitions, below it nodes of eight children, and at the leaves {@link SlotBucket}s of at most
 * {@link SlotBucket#MAX_SLOTS} slots. A bucket that is full bursts into a node of eight buckets, and nothing else moves
 * (Heinz, Zobel and Williams, "Burst Tries", ACM TOIS 2002). A node whose buckets have become nearly empty is joined
 * into one bucket again. The hash is a bijection, so keys differ in their hashes and no path is longer than a hash.
 *
 * <p>Buckets lie in the order of their hashes. A walk goes from bucket to bucket, and its position is a hash; so the
 * table may change between any two steps of a walk.
 *
 * <p>The table can be {@linkplain #freeze frozen}, as {@link LongPages} can: what the frozen tree has at the same place
 * is copied before it changes.
 */
public final class SlotTable {
    /** The answer when no slot has a key. */
    public static final int NONE = -1;

    /** The most slots that one step of a walk visits; hardly ever more than {@value #STEP_SLOTS}. */
    public static final int MAX_STEP_SLOTS = SlotBucket.MAX_SLOTS;

    /** A bucket with more slots is visited range by range, in sixteen steps. */
    private static final int STEP_SLOTS = 192;

    private static final int FAN_OUT_LOG2 = 3;
    private static final int FAN_OUT = 1 << FAN_OUT_LOG2;
    /** Far fewer than a bucket holds, so that a join is not followed by a burst soon. */
    private static final int JOINED_SLOTS = SlotBucket.MAX_SLOTS / 4;

    /** Knows the key of each slot that is in the table. */
    @FunctionalInterface
    public interface Keys {
        long key(int slot);
    }

    private final Keys keys;
    /** Each element of this array, and of the nodes below it, is null, a {@link SlotBucket} or a node: an Object[]. */
    private final @Nullable Object[] root;
    /** The root as it was frozen, if it is. */
    private @Nullable Object frozenRoot;
    /** How far to shift a hash right to get its partition. */
    private final int rootShift;

    private int size;

    /** A table of {@code partitions} partitions, a power of two and at least two. */
    public SlotTable(int partitions, Keys keys) {
        if (partitions < 2 || Integer.bitCount(partitions) != 1) {
            throw new IllegalArgumentException("partitions must be a power of two from 2 on, was " + partitions);
        }
        this.keys = keys;
        this.root = new Object[partitions];
        this.rootShift = Long.SIZE - Integer.numberOfTrailingZeros(partitions);
    }

    private SlotTable(SlotTable of, Keys keys) {
        this.keys = keys;
        this.root = of.root.clone();
        this.rootShift = of.rootShift;
        this.size = of.size;
    }

    /**
     * The table as it is now, to be walked while this one goes on changing, until {@link #thaw}.
     *
     * @param frozenKeys knows the keys as they are now
     */
    public SlotTable freeze(Keys frozenKeys) {
        SlotTable frozen = new SlotTable(this, frozenKeys);
        frozenRoot = frozen.root;
        return frozen;
    }

    /** Ends the freezing: what was frozen is not read any more. */
    public void thaw() {
        frozenRoot = null;
    }

    /** A child that is to be changed, of a node whose place in the frozen tree has this. */
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

    /** Mixes a key's bits so that every bit of the result depends on every bit of the key. No two keys mix to the same. */
    public static long hash(long key) {
        long h = (key ^ key >>> 32) * 0x9E37_79B9_7F4A_7C15L;
        h = (h ^ h >>> 29) * 0xBF58_476D_1CE4_E5B9L;
        return h ^ h >>> 32;
    }

    /** Number of slots. */
    public int size() {
        return size;
    }

    /** The partition that a key belongs to: the top bits of its hash. */
    public int partitionOf(long key) {
        return (int) (hash(key) >>> rootShift);
    }

    /** The slot with this key, or {@link #NONE}. */
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

    /** The tag of a hash in a bucket whose keys share all bits of theirs but the lowest {@code shift}. */
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
        add(root, frozenRoot, rootShift, slot, hash(keys.key(slot)));
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
        full.forEach(slot -> add(node, null, shift, slot, hash(keys.key(slot))));
        return node;
    }

    /** Removes a slot that is in the table; its key must still be the one it was added with. */
    public void remove(int slot) {
        remove(root, frozenRoot, rootShift, slot, hash(keys.key(slot)));
        size--;
    }

    /** Removes a slot below a node. Returns whether that freed memory, so that the node may be worth joining. */
    private boolean remove(@Nullable Object[] node, @Nullable Object frozen, int shift, int slot, long hash) {
        int at = childOf(node, hash, shift);
        Object child = childToChange(node, frozen, at);
        if (child instanceof SlotBucket bucket) {
            return bucket.remove(slot, hash, keys);
        }
        if (!(child instanceof Object[] inner)) {
            throw SlotBucket.missing(slot);
        }
        boolean joins = remove(inner, childOf(frozen, at), shift - FAN_OUT_LOG2, slot, hash)
                && slotsToJoin(inner) <= JOINED_SLOTS;
        if (joins) {
            node[at] = joined(inner, shift);
        }
        return joins;
    }

    /** How many slots the buckets of a node have; more than are ever joined if one of its children is a node. */
    private static int slotsToJoin(@Nullable Object[] node) {
        int sum = 0;
        for (Object child : node) {
            if (child instanceof SlotBucket bucket) {
                sum += bucket.size();
            } else if (child != null) {
                return Integer.MAX_VALUE;
            }
        }
        return sum;
    }

    private SlotBucket joined(@Nullable Object[] node, int shift) {
        SlotBucket joined = new SlotBucket();
        for (Object child : node) {
            if (child instanceof SlotBucket bucket) {
                bucket.forEach(slot -> {
                    long hash = hash(keys.key(slot));
                    joined.add(slot, hash, tag(hash, shift), keys);
                });
            }
        }
        return joined;
    }

    /** Where a walk through a partition starts. */
    public long startOf(int partition) {
        return (long) partition << rootShift;
    }

    /** Whether a walk through a partition, which started there and has come to this position, has more to visit. */
    public boolean isWithin(int partition, long position) {
        return position >>> rootShift == partition;
    }

    /** Whether a walk that has come to this position will still visit a key that is in the table. */
    public static boolean isAhead(long key, long position) {
        return Long.compareUnsigned(hash(key), position) >= 0;
    }

    /**
     * One step of a walk: calls the action with the slots from this position to the end of the bucket there, or of a
     * part of it if it is large. A slot that is in the table during the whole walk is visited once.
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
        // What was joined since the last step begins before the position.
        IntConsumer ahead = slot -> {
            if (isAhead(keys.key(slot), position)) {
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

    /** Where the range of hashes ends that share all bits with this one but the lowest {@code shift}. */
    private static long endOfRange(long hash, int shift) {
        return (hash >>> shift) + 1 << shift;
    }

    /** Calls the action with every slot of a partition. The table must not change meanwhile. */
    public void forEach(int partition, IntConsumer action) {
        long position = startOf(partition);
        do {
            position = visit(position, action);
        } while (isWithin(partition, position));
    }

    /** Bytes of memory in use. */
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
