package io.caravan.heap;

/**
 * Free space of a linear address space, carved into regions. Pure arithmetic: no I/O. Not thread-safe; the store's lock
 * guards it.
 *
 * <p>All sizes are multiples of 8 bytes.
 */
public interface Heap {
    /** Returned by {@link #allocate} when no hole is large enough. */
    long NONE = -1;

    /** Allocates a region of this many bytes. Returns its address, or {@link #NONE}. */
    long allocate(int bytes);

    /** Frees an allocated region. */
    void free(long address, int bytes);

    /** Adds address space as one hole, which never merges with a hole outside of it. */
    void addSpace(long address, long bytes);

    /** Adds address space behind space that is there, and merges it with a hole that ends where it starts. */
    void extendSpace(long address, long bytes);

    /**
     * Removes the whole blocks at the end of a hole that ends at this address.
     *
     * @return how many bytes were removed
     */
    long removeFreeEnd(long end);

    /** Removes address space if all of it is one hole. Returns whether it was. */
    boolean removeSpace(long address, long bytes);

    /** Whether all of this address space is one hole. */
    boolean isFree(long address, long bytes);

    long usedBytes();

    long freeBytes();

    /** The size of the largest hole, at most a sixteenth too small. */
    long largestHoleBytes();

    /** Calls the visitor with every hole, in no particular order. */
    void forEachHole(HoleVisitor visitor);

    /** Receives holes. */
    @FunctionalInterface
    interface HoleVisitor {
        void hole(long address, long bytes);
    }
}
