package io.caravan;

import java.util.List;

/**
 * The layout of a store on disk. It is collected in small slices while the store is in use. Each number was correct at
 * some moment during the collection, but not all numbers at the same moment.
 *
 * @param log the write-ahead log
 * @param heap the heap's segments, in the order of their numbers
 * @param pinsComplete false if readers had pinned too many entries to visit all of them; the actual number of pinned
 *     bytes is then higher
 */
public record StoreLayout(Log log, List<HeapSegment> heap, boolean pinsComplete) {
    public StoreLayout {
        heap = List.copyOf(heap);
    }

    /**
     * The layout of the log, whose segment files have consecutive numbers.
     *
     * @param segmentBytes size of a segment file
     * @param firstSegment first segment that a checkpoint still needs
     * @param currentSegment segment that is being written
     * @param lastSegment last segment that is ready to be written
     * @param replayBytes approximate bytes that a recovery would replay
     * @param checkpointAtBytes value of {@code replayBytes} at which the next checkpoint begins
     * @param survivorBytes total size of the entries in the log that are not freed; a checkpoint moves at most this
     *     many bytes to the heap
     */
    public record Log(
            long segmentBytes,
            long firstSegment,
            long currentSegment,
            long lastSegment,
            long replayBytes,
            long checkpointAtBytes,
            long survivorBytes) {}

    /**
     * Space usage of one heap segment.
     *
     * @param number number of its file, from 0
     * @param totalBytes bytes that entries can use
     * @param freeBytes total size of its holes
     * @param holes number of its holes
     * @param largestHoleBytes size of the largest hole
     * @param pinnedBytes total size of the entries that cannot be freed because a read in progress or a checkpoint pins
     *     them
     */
    public record HeapSegment(
            int number, long totalBytes, long freeBytes, long holes, long largestHoleBytes, long pinnedBytes) {

        /** Returns the number of bytes taken by live entries, and by freed entries whose space is not reusable yet. */
        public long usedBytes() {
            return totalBytes - freeBytes;
        }
    }
}
