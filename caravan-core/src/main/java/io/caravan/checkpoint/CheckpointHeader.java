package io.caravan.checkpoint;

import static io.caravan.format.CheckpointLayout.*;

import io.caravan.CorruptStoreException;
import io.caravan.format.Blocks;
import io.caravan.format.Checksums;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.format.FrameLayout;
import io.caravan.format.FrameLayout.Link;
import java.nio.ByteBuffer;

/**
 * The header of a checkpoint, which identifies the store and the part of the log that the checkpoint covers.
 *
 * @param version the format version
 * @param number the consecutive number of the checkpoint
 * @param storeId the id of the store to which the checkpoint belongs
 * @param startLsn the position at which replay starts: a frame or the log's end
 * @param endLsn the position that the log must reach for the checkpoint to be usable
 * @param previous the frame before {@code startLsn}
 * @param lists number of lists in the checkpoint
 * @param entries number of entries in the checkpoint
 * @param logSegmentBytes size of the store's log segments
 * @param heapSegmentBytes size of the store's heap segments
 * @param heapSegments number of heap segments in use
 * @param partitions number of partitions of the index
 */
public record CheckpointHeader(
        int version,
        long number,
        long storeId,
        long startLsn,
        long endLsn,
        Link previous,
        long lists,
        long entries,
        int logSegmentBytes,
        int heapSegmentBytes,
        int heapSegments,
        int partitions) {

    /** Reads both headers of a checkpoint file and checks conditions 1 to 3 of a valid checkpoint. */
    public static CheckpointHeader decode(ByteBuffer bytes, long number, String path) {
        FileHeader.Fields fields = FileHeader.get(bytes, FileNames.CHECKPOINT.letters(), path);
        int version = bytes.getInt(FileHeader.VERSION);
        int crcAt = headerBytes(version) - Integer.BYTES;
        if (bytes.limit() < headerBytes(version)
                || bytes.getInt(crcAt) != Checksums.crc32c(bytes, FileHeader.BYTES, crcAt - FileHeader.BYTES)) {
            throw new CorruptStoreException(path, crcAt, "the checkpoint header's checksum is wrong");
        }
        if (fields.number() != number) {
            throw new CorruptStoreException(path, FileHeader.NUMBER, "is checkpoint " + fields.number());
        }
        check(Blocks.isSegmentSize(fields.segmentBytes()), path, FileHeader.SEGMENT_BYTES);
        CheckpointHeader header = new CheckpointHeader(
                version,
                number,
                fields.storeId(),
                bytes.getLong(START_LSN),
                bytes.getLong(END_LSN),
                hasTerm(version)
                        ? new Link(bytes.getLong(PREVIOUS_LSN), bytes.getInt(PREVIOUS_CRC), bytes.getInt(PREVIOUS_TERM))
                        : new Link(bytes.getLong(PREVIOUS_LSN), 0, 0),
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
        check(previous.lsn() >= FrameLayout.NO_FRAME && previous.lsn() < startLsn, path, PREVIOUS_LSN);
        check(previous.term() >= 0, path, PREVIOUS_TERM);
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
