package io.caravan;

/**
 * Counters since the store was opened, and current gauges. Lists with an id of 0 or less are for bookkeeping, such as a
 * catalog: writes to these lists are counted separately, and their values are not counted.
 *
 * @param name the store's name, which contains its directory and durability level
 * @param appends values accepted, including those in batches; the counts of trims and deletes also include batches
 * @param appendedBytes total length of these values, in bytes
 * @param trims trims accepted
 * @param deletes deletes accepted
 * @param internalWrites values, trims, and deletes accepted in lists with an id of 0 or less
 * @param rejections writes rejected, except those for which {@link ListStore#tryWrite} returned false
 * @param failures failed checkpoints and failed attempts to make or remove a log segment, plus one if the store itself
 *     has failed
 * @param fsyncs fsyncs of the log
 * @param logBytes bytes written to the log
 * @param flushRecords records per flush
 * @param fsyncNanos duration of one write and fsync of the log, in nanoseconds
 * @param ackNanos time from the acceptance of the first write in a flush to the acknowledgment of that write, in
 *     nanoseconds
 * @param recentAckNanos the same for the last five to ten seconds
 * @param lists number of lists, including those for bookkeeping
 * @param values number of values retained
 * @param heap space usage of the heap
 * @param logBytesSinceCheckpoint approximate number of log bytes that a recovery would replay
 * @param checkpoints checkpoints published
 * @param lastCheckpointNanos duration of the last checkpoint, in nanoseconds
 * @param pinnedReaders reads in progress
 * @param lockNanos durations for which the store's lock was held, in nanoseconds: every slice of background work, and
 *     one in 64 of the other holds, such as those of appends and reads. Includes time in which the operating system had
 *     suspended the thread
 */
public record StoreStats(
        String name,
        long appends,
        long appendedBytes,
        long trims,
        long deletes,
        long internalWrites,
        long rejections,
        long failures,
        long fsyncs,
        long logBytes,
        Distribution flushRecords,
        Distribution fsyncNanos,
        Distribution ackNanos,
        Distribution recentAckNanos,
        long lists,
        long values,
        HeapUse heap,
        long logBytesSinceCheckpoint,
        long checkpoints,
        long lastCheckpointNanos,
        long pinnedReaders,
        Distribution lockNanos) {

    /**
     * The count, mean, maximum, and common percentiles of a histogram. Each percentile is accurate to about 6 percent.
     *
     * @param count number of values recorded
     * @param mean mean of the values
     * @param max the exact maximum
     */
    public record Distribution(long count, double mean, long p50, long p90, long p99, long p999, long max) {
        /** An empty distribution. */
        public static final Distribution EMPTY = new Distribution(0, 0, 0, 0, 0, 0, 0);
    }

    /**
     * Space usage of the heap, in bytes. Space reclaimed from trimmed or deleted entries is neither used nor free
     * until the next checkpoint.
     *
     * @param totalBytes total size of the heap's files; their disk usage may be lower
     * @param usedBytes total size of the entries that are live or pinned by readers, in the heap or still in the log
     * @param freeBytes free bytes of the heap's files
     * @param largestHoleBytes the largest contiguous free space
     * @param segmentBytes usable bytes of a segment, which is the maximum size of a hole
     */
    public record HeapUse(long totalBytes, long usedBytes, long freeBytes, long largestHoleBytes, long segmentBytes) {
        /**
         * Returns 1 minus the ratio of the largest hole to the largest hole that the free bytes could form; 0 if there
         * are no free bytes.
         */
        public double fragmentation() {
            long possible = Math.min(freeBytes, segmentBytes);
            return possible == 0 ? 0 : 1 - (double) largestHoleBytes / possible;
        }
    }
}
