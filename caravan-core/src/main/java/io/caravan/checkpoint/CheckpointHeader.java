package io.caravan.checkpoint;

import static io.caravan.format.CheckpointLayout.*;

import io.caravan.CorruptStoreException;
import io.caravan.format.Blocks;
import io.caravan.format.Checksums;
import io.caravan.format.FileHeader;
import io.caravan.format.FrameLayout;
import java.nio.ByteBuffer;

/**
 * The header of a checkpoint: where it belongs, and what it covers.
 *
 * @param version of the format
 * @param number counts the store's checkpoints
 * @param storeId the store it belongs to
 * @param startLsn replay starts here, at a frame or at the log's end
 * @param endLsn the log must reach this position for the checkpoint to be whole
 * @param previousLsn the frame before {@code startLsn}
 * @param lists number of lists in it
 * @param entries number of entries in it
 * @param logSegmentBytes size of the store's log segments
 * @param heapSegmentBytes size of the store's heap segments
 * @param heapSegments heap segments that were in use
 * @param partitions number of partitions of the index
 */
public record CheckpointHeader(
        int version,
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
        int partitions) {

    /** Reads both headers of a file and checks conditions 1 to 3 of {@link CheckpointReader}. */
    static CheckpointHeader decode(ByteBuffer bytes, long number, String path) {
        FileHeader.Fields fields = FileHeader.get(bytes, FileHeader.Kind.CHECKPOINT, path);
        if (bytes.limit() < HEADER_BYTES
                || bytes.getInt(HEADER_CRC)
                        != Checksums.crc32c(bytes, FileHeader.BYTES, HEADER_CRC - FileHeader.BYTES)) {
            throw new CorruptStoreException(path, HEADER_CRC, "the checkpoint header's checksum is wrong");
        }
        if (fields.number() != number) {
            throw new CorruptStoreException(path, FileHeader.NUMBER, "is checkpoint " + fields.number());
        }
        check(Blocks.isSegmentSize(fields.segmentBytes()), path, FileHeader.SEGMENT_BYTES);
        CheckpointHeader header = new CheckpointHeader(
                bytes.getInt(FileHeader.VERSION),
                number,
                fields.storeId(),
                bytes.getLong(START_LSN),
                bytes.getLong(END_LSN),
                bytes.getLong(PREVIOUS_LSN),
                bytes.getLong(LIST_COUNT),
                bytes.getLong(ENTRY_COUNT),
                (int) fields.segmentBytes(),
                bytes.getInt(HEAP_SEGMENT_BYTES),
                bytes.getInt(HEAP_SEGMENTS),
                bytes.getInt(PARTITIONS));
        header.checkNumbers(path);
        return header;
    }

    private void checkNumbers(String path) {
        check(number < NUMBER_LIMIT, path, FileHeader.NUMBER);
        check(Blocks.isSegmentSize(heapSegmentBytes), path, HEAP_SEGMENT_BYTES);
        check(heapSegments >= 0, path, HEAP_SEGMENTS);
        check(partitions > 0 && partitions <= MAX_PARTITIONS, path, PARTITIONS);
        check(startLsn < NUMBER_LIMIT && canStartFrame(startLsn), path, START_LSN);
        check(endLsn >= startLsn && endLsn < NUMBER_LIMIT, path, END_LSN);
        check(previousLsn >= FrameLayout.NO_FRAME && previousLsn < startLsn, path, PREVIOUS_LSN);
    }

    private boolean canStartFrame(long lsn) {
        return lsn > 0 && lsn % Blocks.BLOCK_BYTES == 0 && lsn % logSegmentBytes != 0;
    }

    private static void check(boolean canBe, String path, int offset) {
        if (!canBe) {
            throw new CorruptStoreException(path, offset, "the header has a number that no store can have");
        }
    }
}
