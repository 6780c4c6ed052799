package io.caravan.heap;

/**
 * Free space of a linear address space, carved into regions. Pure arithmetic: no I/O. Not thread-safe; the store's lock
 * guards it.
 *
 * <p>All sizes are multiples of 8 bytes.
 */
public interface Heap {
    /** What {@link #ask} answers when there is no hole that is large enough. */
    long NONE = -1;

    /** Takes a region of this many bytes; its address, or {@link #NONE}. */
    long ask(int bytes);

    /** Gives back a region that was asked for. */
    void free(long address, int bytes);

    /** Adds address space as one hole. It never joins with a hole outside it. */
    void addSpace(long address, long bytes);

    /** Takes address space away if it is one whole hole. Returns whether it was. */
    boolean removeSpace(long address, long bytes);

    long usedBytes();

    long freeBytes();

    /** The size of the largest hole, to a sixteenth. */
    long largestHoleBytes();

    /** Calls the visitor with every hole, in no particular order. */
    void forEachHole(HoleVisitor visitor);

    /** Receives holes. */
    @FunctionalInterface
    interface HoleVisitor {
        void hole(long address, long bytes);
    }
}
