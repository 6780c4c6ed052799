package io.caravan.heap;

import io.caravan.collections.RecordPages;
import io.caravan.collections.SlotTable;
import io.caravan.format.Blocks;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Manages the free space of a linear address space that is divided into regions. Pure arithmetic without I/O. Not
 * thread-safe; the store's lock guards it. All sizes are multiples of 8 bytes. Holes are indexed by start, end, and
 * size.
 *
 * <p>The indexes by start and end let a freed region merge with adjacent holes immediately. The index by size lets a
 * small request use a small hole before it splits a large one. It has a bin for each size up to 4 KiB, and sixteen bins
 * for each power of two above, with a bitmap of the nonempty bins.
 *
 * <p>This is the two-level segregated fit of Masmano, Ripoll, Crespo and Real (TLSF, ECRTS 2004). The cost of
 * allocating and freeing does not depend on the number of holes.
 *
 * <p>A hole is stored in a slot of three longs: its start, its size, and its neighbors in the list of its bin. Sizes
 * are stored in units of 8 bytes.
 */
public final class IndexedHeap {
    /** The result of {@link #allocate} if no hole is large enough. */
    public static final long NONE = -1;

    @FunctionalInterface
    public interface HoleVisitor {
        void hole(long address, long bytes);
    }

    private static final int UNIT_SHIFT = 3;
    private static final int PARTITIONS = 256;
    private static final int NIL = -1;

    private static final int START = 0;
    private static final int UNITS = 1;
    private static final int LINKS = 2;
    private static final int SLOT_LONGS = 3;

    /**
     * The minimum size of holes that are kept even if the limit on the number of holes is exceeded: 1 MiB. The address
     * space can contain 2^21 such holes.
     */
    private static final long ALWAYS_KEPT_UNITS = 1 << 17;

    /** The default limit on the number of holes, which leaves slots for all holes that are kept beyond the limit. */
    private static final int MAX_HOLES = RecordPages.maxRecords(SLOT_LONGS) - (1 << 21);

    /** The size, in units of 8 bytes, below which each size has its own bin: 4 KiB. */
    private static final int EXACT_UNITS = 512;

    private static final int EXACT_LOG2 = Integer.numberOfTrailingZeros(EXACT_UNITS);
    private static final int SPLIT_LOG2 = 4;
    private static final int BINS = EXACT_UNITS + (Long.SIZE - EXACT_LOG2 << SPLIT_LOG2);

    /** Number of holes to try in the bin of the requested size before a hole from a larger bin is split. */
    private static final int FIT_TRIES = 16;

    /** Number of holes to compare in a search for the largest. Sizes in a bin differ by up to a sixteenth. */
    private static final int LARGEST_CHECKS = 256;

    private final RecordPages slots = new RecordPages(SLOT_LONGS);
    private final SlotTable byStart = new SlotTable(PARTITIONS, this::start);
    private final SlotTable byEnd = new SlotTable(PARTITIONS, this::end);
    /** The first hole of each bin, or {@link #NIL}. */
    private final int[] bins = new int[BINS];
    /** The bins that have a hole. */
    private final BitSet filledBins = new BitSet(BINS);

    private final int maxHoles;
    private long totalUnits;
    private long freeUnits;

    public IndexedHeap() {
        this(MAX_HOLES);
    }

    /**
     * Creates a heap that keeps up to this many holes, and more only if they are 1 MiB or larger. A freed region that
     * would exceed this limit stays used. The same applies to gaps that {@link FreeSpace} finds, so every heap can be
     * rebuilt.
     */
    public IndexedHeap(int maxHoles) {
        this.maxHoles = maxHoles;
        Arrays.fill(bins, NIL);
    }

    /** Allocates a region of this many bytes. Returns its address, or {@link #NONE}. */
    public long allocate(int bytes) {
        long units = units(bytes);
        int slot = findFit(units);
        if (slot == NIL) {
            return NONE;
        }
        long start = start(slot);
        if (holeUnits(slot) == units) {
            removeHole(slot);
        } else {
            takeFront(slot, units);
        }
        return start << UNIT_SHIFT;
    }

    /** Shortens a hole at its start. The hole's end, and therefore its place in the index by end, does not change. */
    private void takeFront(int slot, long units) {
        long left = holeUnits(slot) - units;
        boolean sameBin = binOf(left) == binOf(holeUnits(slot));
        byStart.remove(slot);
        if (!sameBin) {
            unlinkFromBin(slot);
        }
        slots.set(slot, START, start(slot) + units);
        slots.set(slot, UNITS, left);
        if (!sameBin) {
            linkIntoBin(slot);
        }
        byStart.add(slot);
        freeUnits -= units;
    }

    private int findFit(long units) {
        int bin = binOf(units);
        int slot = bins[bin];
        for (int tries = 0; slot != NIL && tries < FIT_TRIES; tries++) {
            if (holeUnits(slot) >= units) {
                return slot;
            }
            slot = next(slot);
        }
        int larger = filledBins.nextSetBit(bin + 1);
        return larger == NIL ? NIL : bins[larger];
    }

    public void free(long address, int bytes) {
        long start = address >>> UNIT_SHIFT;
        long units = units(bytes);
        int before = byEnd.find(start);
        if (before != NIL) {
            start = start(before);
            units += holeUnits(before);
            removeHole(before);
        }
        int after = byStart.find(start + units);
        if (after != NIL) {
            units += holeUnits(after);
            removeHole(after);
        }
        addIfRoom(start, units);
    }

    private void addIfRoom(long start, long units) {
        if (slots.count() < maxHoles || units >= ALWAYS_KEPT_UNITS) {
            addHole(start, units);
        }
    }

    /** Adds address space, and merges it with a hole directly before it. */
    public void addSpace(long address, int bytes) {
        totalUnits += units(bytes);
        free(address, bytes);
    }

    /** Removes the complete blocks at the end of a hole that ends here. Returns the number of bytes removed. */
    public long removeFreeEnd(long end) {
        int slot = byEnd.find(end >>> UNIT_SHIFT);
        if (slot == NIL) {
            return 0;
        }
        long start = start(slot);
        long keptUnits = (Blocks.roundUp(start << UNIT_SHIFT) >>> UNIT_SHIFT) - start;
        long removedUnits = holeUnits(slot) - keptUnits;
        if (removedUnits <= 0) {
            return 0;
        }
        removeHole(slot);
        if (keptUnits > 0) {
            addHole(start, keptUnits);
        }
        totalUnits -= removedUnits;
        return removedUnits << UNIT_SHIFT;
    }

    /** Whether this range of the address space is exactly one hole. */
    public boolean isFree(long address, long bytes) {
        int slot = byStart.find(address >>> UNIT_SHIFT);
        return slot != NIL && holeUnits(slot) == units(bytes);
    }

    /** Adds address space that is used except for the holes that {@link #addFree} adds. */
    void addUsedSpace(long bytes) {
        totalUnits += units(bytes);
    }

    /** Adds a hole in used space; no other hole may be adjacent to it. */
    void addFree(long address, long bytes) {
        addIfRoom(address >>> UNIT_SHIFT, units(bytes));
    }

    public long usedBytes() {
        return totalUnits - freeUnits << UNIT_SHIFT;
    }

    public long freeBytes() {
        return freeUnits << UNIT_SHIFT;
    }

    /** Returns the approximate size of the largest hole. The actual size may be up to a sixteenth larger. */
    public long largestHoleBytes() {
        long largest = 0;
        int slot = filledBins.isEmpty() ? NIL : bins[filledBins.length() - 1];
        for (int checked = 0; slot != NIL && checked < LARGEST_CHECKS; checked++) {
            largest = Math.max(largest, holeUnits(slot));
            slot = next(slot);
        }
        return largest << UNIT_SHIFT;
    }

    /**
     * Performs one step of a walk through all holes, during which the heap may change. Holes that appear, disappear or
     * merge during the walk may or may not be visited. A walk starts at position 0, and ends when a step returns 0.
     *
     * @return the position of the next step
     */
    public long visitHoles(long position, HoleVisitor visitor) {
        return byStart.visit(position, slot -> visitor.hole(start(slot) << UNIT_SHIFT, holeUnits(slot) << UNIT_SHIFT));
    }

    private static long units(long bytes) {
        return bytes + (1 << UNIT_SHIFT) - 1 >>> UNIT_SHIFT;
    }

    private void addHole(long start, long units) {
        int slot = slots.allocate();
        slots.set(slot, START, start);
        slots.set(slot, UNITS, units);
        byStart.add(slot);
        byEnd.add(slot);
        linkIntoBin(slot);
        freeUnits += units;
    }

    private void removeHole(int slot) {
        unlinkFromBin(slot);
        byStart.remove(slot);
        byEnd.remove(slot);
        freeUnits -= holeUnits(slot);
        slots.free(slot);
    }

    /** Returns the bin for holes of this size. All sizes in a bin are smaller than those in the next bin. */
    static int binOf(long units) {
        if (units < EXACT_UNITS) {
            return (int) units;
        }
        int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(units);
        int split = (int) (units >>> log2 - SPLIT_LOG2) & (1 << SPLIT_LOG2) - 1;
        return EXACT_UNITS + (log2 - EXACT_LOG2 << SPLIT_LOG2) + split;
    }

    private void setFirst(int bin, int slot) {
        bins[bin] = slot;
        filledBins.set(bin, slot != NIL);
    }

    private void linkIntoBin(int slot) {
        int bin = binOf(holeUnits(slot));
        int head = bins[bin];
        link(slot, NIL, head);
        if (head != NIL) {
            link(head, slot, next(head));
        }
        setFirst(bin, slot);
    }

    private void unlinkFromBin(int slot) {
        int previous = previous(slot);
        int next = next(slot);
        if (previous == NIL) {
            setFirst(binOf(holeUnits(slot)), next);
        } else {
            link(previous, previous(previous), next);
        }
        if (next != NIL) {
            link(next, previous, next(next));
        }
    }

    private long start(int slot) {
        return slots.get(slot, START);
    }

    private long holeUnits(int slot) {
        return slots.get(slot, UNITS);
    }

    private long end(int slot) {
        return start(slot) + holeUnits(slot);
    }

    private void link(int slot, int previous, int next) {
        slots.set(slot, LINKS, (long) previous << Integer.SIZE | next & 0xFFFF_FFFFL);
    }

    private int previous(int slot) {
        return (int) (slots.get(slot, LINKS) >> Integer.SIZE);
    }

    private int next(int slot) {
        return (int) slots.get(slot, LINKS);
    }
}
