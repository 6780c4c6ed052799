package io.caravan;

import java.util.List;

/**
 * How a store lies on disk. It is put together in small steps while the store goes on, so its figures are each right, but
 * not all of one moment.
 *
 * @param log the write-ahead log
 * @param heap the heap's segments, by their numbers
 * @param pinsComplete false when readers had pinned so much that not all of it was looked at: pinned bytes are more then
 */
public record StoreLayout(Log log, List<HeapSegment> heap, boolean pinsComplete) {
    /** Of a store that keeps nothing on disk. */
    public static final StoreLayout EMPTY = new StoreLayout(new Log(0, 0, 0, 0, 0, 0, 0), List.of(), true);

    public StoreLayout {
        heap = List.copyOf(heap);
    }

    /**
     * The log, whose segment files have consecutive numbers.
     *
     * @param segmentBytes size of a segment's file
     * @param firstSegment the first that a checkpoint still needs
     * @param currentSegment the one that is written to
     * @param lastSegment the last that is ready to be written to
     * @param replayBytes about how much a recovery would replay
     * @param checkpointAtBytes how much that will be when the next checkpoint begins
     * @param movingBytes of entries that are in the log and not freed: the most that a checkpoint would move to the heap
     */
    public record Log(
            long segmentBytes,
            long firstSegment,
            long currentSegment,
            long lastSegment,
            long replayBytes,
            long checkpointAtBytes,
            long movingBytes) {}

    /**
     * A segment of the heap.
     *
     * @param number of its file, from 0
     * @param totalBytes what entries can take up
     * @param freeBytes in its holes
     * @param holes how many there are
     * @param largestHoleBytes the greatest of them
     * @param pinnedBytes of entries that a read under way, or a checkpoint, keeps where they are
     */
    public record HeapSegment(
            int number, long totalBytes, long freeBytes, long holes, long largestHoleBytes, long pinnedBytes) {

        /** Bytes of entries that are live, or not freed yet. */
        public long usedBytes() {
            return totalBytes - freeBytes;
        }
    }
}
