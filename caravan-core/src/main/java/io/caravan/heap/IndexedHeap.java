package io.caravan.heap;

import io.caravan.collections.RecordPages;
import io.caravan.collections.SlotTable;
import io.caravan.format.Blocks;

/**
 * Free space of a linear address space, carved into regions. Pure arithmetic: no I/O. Not thread-safe; the store's lock
 * guards it. All sizes are multiples of 8 bytes. Holes are indexed by start, by end and by size.
 *
 * <p>By start and by end, so that a freed region merges with the holes beside it at once; by size, so that a small
 * request takes a small hole before it splits a large one. The index by size has a bin for each size up to 4 KiB, and
 * sixteen bins for each power of two above, with a bitmap of the bins that are not empty: the two-level segregated fit
 * of Masmano, Ripoll, Crespo and Real (TLSF, ECRTS 2004). Allocating and freeing cost the same however many holes there
 * are.
 *
 * <p>A hole is a slot of three longs: start, size, and its neighbours in its bin's list. Sizes are kept in units of 8
 * bytes.
 *
 * <p>One hole at a time, the frontier, is in no index: the large one that was split last. Allocations come from its
 * front as long as no smaller hole fits, and each then moves two numbers instead of rewriting three indexes.
 */
public final class IndexedHeap {
    /** Returned by {@link #allocate} when no hole is large enough. */
    public static final long NONE = -1;

    /** Receives holes. */
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

    /** Holes from this size on are always kept: 1 MiB, of which the address space has 2^21. */
    private static final long ALWAYS_KEPT_UNITS = 1 << 17;

    /** Leaves room for all the holes that are always kept. */
    private static final int MAX_HOLES = RecordPages.maxRecords(SLOT_LONGS) - (1 << 21);

    /** Holes from this size on become the frontier when they are split: 4 KiB. */
    private static final long FRONTIER_UNITS = 512;

    /** How many holes of the request's own bin are tried before one of a larger bin is split. */
    private static final int FIT_TRIES = 16;

    /** How many holes of the last bin, whose sizes differ by up to a sixteenth, are compared to find the largest. */
    private static final int LARGEST_LOOKS = 256;

    private final RecordPages slots = new RecordPages(SLOT_LONGS);
    private final SlotTable byStart = new SlotTable(PARTITIONS, this::start);
    private final SlotTable byEnd = new SlotTable(PARTITIONS, this::end);
    private final SizeBins bins = new SizeBins();

    private final int maxHoles;
    private long totalUnits;
    private long freeUnits;
    private long frontierStart;
    /** 0 when there is no frontier. */
    private long frontierUnits;

    public IndexedHeap() {
        this(MAX_HOLES);
    }

    /**
     * A heap that keeps this many holes, and more only of a MiB or larger. A region that would become one hole more
     * stays used when it is freed. So does a gap that {@link FreeSpace} finds, so every heap can be rebuilt.
     */
    public IndexedHeap(int maxHoles) {
        this.maxHoles = maxHoles;
    }

    /** Allocates a region of this many bytes. Returns its address, or {@link #NONE}. */
    public long allocate(int bytes) {
        long units = units(bytes);
        int slot = findFit(units);
        if (frontierUnits >= units && (slot == NIL || frontierUnits <= holeUnits(slot))) {
            return takeFromFrontier(units);
        }
        if (slot == NIL) {
            return NONE;
        }
        if (holeUnits(slot) >= FRONTIER_UNITS) {
            makeFrontier(slot);
            return takeFromFrontier(units);
        }
        long start = start(slot);
        if (holeUnits(slot) == units) {
            removeHole(slot);
        } else {
            takeFront(slot, units);
        }
        return start << UNIT_SHIFT;
    }

    private long takeFromFrontier(long units) {
        long start = frontierStart;
        frontierStart += units;
        frontierUnits -= units;
        freeUnits -= units;
        return start << UNIT_SHIFT;
    }

    private void makeFrontier(int slot) {
        long start = start(slot);
        long units = holeUnits(slot);
        removeHole(slot);
        settleFrontier();
        frontierStart = start;
        frontierUnits = units;
        freeUnits += units;
    }

    /** Puts the frontier back into the indexes. */
    private void settleFrontier() {
        if (frontierUnits > 0) {
            long units = frontierUnits;
            frontierUnits = 0;
            freeUnits -= units;
            addHole(frontierStart, units);
        }
    }

    /** Shortens a hole from its start; its end, and so its place in the index by end, stays. */
    private void takeFront(int slot, long units) {
        long left = holeUnits(slot) - units;
        boolean sameBin = SizeBins.binOf(left) == SizeBins.binOf(holeUnits(slot));
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
        int bin = SizeBins.binOf(units);
        int slot = bins.first(bin);
        for (int tries = 0; slot != NIL && tries < FIT_TRIES; tries++) {
            if (holeUnits(slot) >= units) {
                return slot;
            }
            slot = next(slot);
        }
        int larger = bins.firstFilledFrom(bin + 1);
        return larger == NIL ? NIL : bins.first(larger);
    }

    /** Frees an allocated region. */
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
        if (!joinFrontier(start, units)) {
            addIfRoom(start, units);
        }
    }

    private void addIfRoom(long start, long units) {
        if (!full() || units >= ALWAYS_KEPT_UNITS) {
            addHole(start, units);
        }
    }

    /** Whether there are so many holes that freeing may add none, so that space is lost until the heap is rebuilt. */
    public boolean full() {
        return slots.count() >= maxHoles;
    }

    private boolean joinFrontier(long start, long units) {
        boolean before = start + units == frontierStart;
        if (frontierUnits == 0 || !before && start != frontierStart + frontierUnits) {
            return false;
        }
        frontierStart = before ? start : frontierStart;
        frontierUnits += units;
        freeUnits += units;
        return true;
    }

    /** Adds address space as one hole, which never merges with a hole outside of it. */
    public void addSpace(long address, long bytes) {
        totalUnits += units(bytes);
        addHole(address >>> UNIT_SHIFT, units(bytes));
    }

    /** Adds address space behind space that is there, and merges it with a hole that ends where it starts. */
    public void extendSpace(long address, long bytes) {
        totalUnits += units(bytes);
        free(address, Math.toIntExact(bytes));
    }

    /** Removes the whole blocks at the end of a hole that ends at this address. Returns how many bytes were removed. */
    public long removeFreeEnd(long end) {
        settleFrontier();
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

    /** Removes address space if all of it is one hole. Returns whether it was. */
    public boolean removeSpace(long address, long bytes) {
        if (!isFree(address, bytes)) {
            return false;
        }
        settleFrontier();
        removeHole(byStart.find(address >>> UNIT_SHIFT));
        totalUnits -= units(bytes);
        return true;
    }

    /** Whether all of this address space is one hole. */
    public boolean isFree(long address, long bytes) {
        long start = address >>> UNIT_SHIFT;
        if (frontierUnits > 0 && frontierStart == start) {
            return frontierUnits == units(bytes);
        }
        int slot = byStart.find(start);
        return slot != NIL && holeUnits(slot) == units(bytes);
    }

    /** Adds address space all of which is used, but for the holes that {@link #addFree} adds. */
    void addUsedSpace(long bytes) {
        totalUnits += units(bytes);
    }

    /** Adds a hole in used space, with nothing free beside it. */
    void addFree(long address, long bytes) {
        addIfRoom(address >>> UNIT_SHIFT, units(bytes));
    }

    public long usedBytes() {
        return totalUnits - freeUnits << UNIT_SHIFT;
    }

    public long freeBytes() {
        return freeUnits << UNIT_SHIFT;
    }

    /** The size of the largest hole, at most a sixteenth too small. */
    public long largestHoleBytes() {
        int bin = bins.lastFilled();
        long largest = 0;
        int slot = bin == NIL ? NIL : bins.first(bin);
        for (int looks = 0; slot != NIL && looks < LARGEST_LOOKS; looks++) {
            largest = Math.max(largest, holeUnits(slot));
            slot = next(slot);
        }
        return Math.max(largest, frontierUnits) << UNIT_SHIFT;
    }

    /**
     * One step of a walk through all holes, which goes on while the heap changes: holes that come, go or merge meanwhile
     * may be visited or not. A walk starts at position 0, and is through when a step returns 0 again.
     *
     * @return the position of the next step
     */
    public long visitHoles(long position, HoleVisitor visitor) {
        if (position == 0 && frontierUnits > 0) {
            visitor.hole(frontierStart << UNIT_SHIFT, frontierUnits << UNIT_SHIFT);
        }
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

    private void linkIntoBin(int slot) {
        int bin = SizeBins.binOf(holeUnits(slot));
        int head = bins.first(bin);
        link(slot, NIL, head);
        if (head != NIL) {
            link(head, slot, next(head));
        }
        bins.setFirst(bin, slot);
    }

    private void unlinkFromBin(int slot) {
        int previous = previous(slot);
        int next = next(slot);
        if (previous == NIL) {
            bins.setFirst(SizeBins.binOf(holeUnits(slot)), next);
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
