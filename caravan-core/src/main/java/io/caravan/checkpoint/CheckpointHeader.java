package io.caravan.checkpoint;

/**
 * What a checkpoint says of itself.
 *
 * @param number counts the store's checkpoints
 * @param storeId the store it belongs to
 * @param startLsn replay starts here, at a frame or at the log's end
 * @param endLsn the log must reach this position for the checkpoint to be whole
 * @param previousLsn the frame before {@code startLsn}
 * @param lists lists in it
 * @param entries entries in it
 * @param logSegmentBytes size of the store's log segments
 * @param heapSegmentBytes size of the store's heap segments
 * @param heapSegments heap segments that were in use when it was started
 * @param partitions partitions of the index
 */
public record CheckpointHeader(
        long number,
        long storeId,
        long startLsn,
        long endLsn,
        long previousLsn,
        long lists,
        long entries,
        int logSegmentBytes,
        int heapSegmentBytes,
        int heapSegments,
        int partitions) {}
