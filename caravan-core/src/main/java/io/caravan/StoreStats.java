package io.caravan;

/**
 * Counters since the store was opened, and gauges of one moment.
 *
 * @param name the store's name, which tells its directory and durability level
 * @param appends values accepted, those of batches included; likewise for trims and deletes
 * @param appendedBytes bytes of those values
 * @param trims trims accepted
 * @param deletes deletions accepted
 * @param refusals writes that were refused, for whatever reason
 * @param failures failed checkpoints and failed attempts to grow, and one more when the store itself has failed
 * @param forces forces of the log
 * @param logBytes bytes written to the log
 * @param batchRecords records per flush
 * @param forceNanos duration of one write and force of the log, in nanoseconds
 * @param ackNanos from a flush's first accepted write to its acknowledgement, in nanoseconds
 * @param recentAckNanos the same of the last five to ten seconds
 * @param lists lists that exist
 * @param heap the heap's space
 * @param logBytesSinceCheckpoint about how many log bytes a recovery would have to replay
 * @param checkpoints checkpoints published
 * @param lastCheckpointNanos how long the last one took, in nanoseconds
 * @param pinnedReaders reads under way
 * @param lockNanos how long the store's one lock was held, in nanoseconds: each slice of background work, and one in 64
 *     of the other holds, among them appends and reads; what the operating system took from a thread meanwhile is in it
 */
public record StoreStats(
        String name,
        long appends,
        long appendedBytes,
        long trims,
        long deletes,
        long refusals,
        long failures,
        long forces,
        long logBytes,
        Distribution batchRecords,
        Distribution forceNanos,
        Distribution ackNanos,
        Distribution recentAckNanos,
        long lists,
        HeapUse heap,
        long logBytesSinceCheckpoint,
        long checkpoints,
        long lastCheckpointNanos,
        long pinnedReaders,
        Distribution lockNanos) {

    /**
     * A histogram, read at its usual points; each is exact to about 6 percent.
     *
     * @param count number of values recorded
     * @param mean their mean
     * @param max the greatest one, exactly
     */
    public record Distribution(long count, double mean, long p50, long p90, long p99, long p999, long max) {
        /** Nothing recorded. */
        public static final Distribution EMPTY = new Distribution(0, 0, 0, 0, 0, 0, 0);
    }

    /**
     * The heap's space, in bytes. What was trimmed or deleted is neither used nor free until the next checkpoint.
     *
     * @param totalBytes sizes of the heap's files, which take up to so much of the disk
     * @param usedBytes of entries that are live, or that readers still have pinned, in the heap or still in the log
     * @param freeBytes of the heap's files
     * @param largestHoleBytes the greatest contiguous free space
     * @param segmentBytes what a whole segment offers: no hole is larger
     */
    public record HeapUse(long totalBytes, long usedBytes, long freeBytes, long largestHoleBytes, long segmentBytes) {
        /** Nothing at all. */
        public static final HeapUse EMPTY = new HeapUse(0, 0, 0, 0, 0);

        /** 1 minus the ratio of the largest hole to the largest that the free bytes could make; 0 when nothing is free. */
        public double fragmentation() {
            long possible = Math.min(freeBytes, segmentBytes);
            return possible == 0 ? 0 : 1 - (double) largestHoleBytes / possible;
        }
    }
}
