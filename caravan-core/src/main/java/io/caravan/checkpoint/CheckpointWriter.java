package io.caravan.checkpoint;

import static io.caravan.format.CheckpointLayout.*;

import io.caravan.format.Checksums;
import io.caravan.format.FileHeader;
import io.caravan.format.FileNames;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writes one checkpoint file: partitions first, the header last. Then it fsyncs the file, renames it, and fsyncs the
 * directory. Before the renaming, the file has a temporary name and is not a checkpoint.
 */
public final class CheckpointWriter implements AutoCloseable {
    private static final int MAX_SECTION_BYTES = SECTION_HEADER_BYTES + MAX_PAYLOAD_BYTES;
    /** The number of bytes to collect before a write to the file. Most sections are far smaller. */
    private static final int WORTH_WRITING_BYTES = 1 << 12;

    private final Storage storage;
    private final long number;
    private final StoreFile file;
    /** The complete sections that are not written yet, followed by the section in progress, which always fits. */
    private final ByteBuffer buffer =
            ByteBuffer.allocateDirect(WORTH_WRITING_BYTES + MAX_SECTION_BYTES).order(ByteOrder.LITTLE_ENDIAN);

    private int sectionAt;
    private long written = HEADER_BYTES;
    private int partition;
    private long captureLsn;
    private int pieces;
    private long listId;
    private long listCreationLsn;
    private long listFirst;
    private long listNext;
    private long lists;
    private long entries;
    private boolean published;

    public CheckpointWriter(Storage storage, long number) throws IOException {
        this.storage = storage;
        this.number = number;
        this.file = storage.create(FileNames.CHECKPOINT.temporary(number), 0);
    }

    /** Starts a partition that was captured at this LSN. */
    public void startPartition(int partitionNumber, long lsn) {
        partition = partitionNumber;
        captureLsn = lsn;
        sectionAt = buffer.position();
        buffer.position(sectionAt + SECTION_HEADER_BYTES);
        pieces = 0;
    }

    private void writeBuffer() throws IOException {
        int bytes = buffer.position();
        file.write(buffer.flip(), written);
        written += bytes;
        buffer.clear();
    }

    /** Starts a list. The caller then adds the list's regions. */
    public void list(long id, long creationLsn, long first, long next) throws IOException {
        listId = id;
        listCreationLsn = creationLsn;
        listFirst = first;
        listNext = next;
        lists++;
        entries += next - first;
        if (first == next) {
            piece(new long[0], 0, 0);
        }
    }

    /** Adds regions of the current list. Starts another piece when a section is full. */
    public void regions(long[] regions, int from, int count) throws IOException {
        int done = 0;
        while (done < count) {
            done += piece(regions, from + done, count - done);
        }
    }

    /** Adds a piece of the current list with as many of the regions as fit. Returns the number of regions added. */
    private int piece(long[] regions, int from, int count) throws IOException {
        if (sectionRoom() < PIECE_HEADER_BYTES + Long.BYTES) {
            // Continues the partition in another section.
            endPartition();
            startPartition(partition, captureLsn);
        }
        int fitting = Math.min(count, (sectionRoom() - PIECE_HEADER_BYTES) / Long.BYTES);
        buffer.putLong(listId)
                .putLong(listCreationLsn)
                .putLong(listFirst)
                .putLong(listNext)
                .putLong(fitting);
        for (int i = from; i < from + fitting; i++) {
            buffer.putLong(regions[i]);
        }
        pieces++;
        return fitting;
    }

    private int sectionRoom() {
        return sectionAt + MAX_SECTION_BYTES - buffer.position();
    }

    /** Ends the partition. Every partition has at least one section, which contains the partition's capture LSN. */
    public void endPartition() throws IOException {
        int bytes = buffer.position() - sectionAt;
        buffer.putInt(sectionAt + SECTION_PAYLOAD_BYTES, bytes - SECTION_HEADER_BYTES);
        buffer.putInt(sectionAt + SECTION_PARTITION, partition);
        buffer.putInt(sectionAt + SECTION_PIECES, pieces);
        buffer.putLong(sectionAt + SECTION_CAPTURE_LSN, captureLsn);
        int covered = bytes - SECTION_PAYLOAD_BYTES;
        buffer.putInt(sectionAt + SECTION_CRC, Checksums.crc32c(buffer, sectionAt + SECTION_PAYLOAD_BYTES, covered));
        if (buffer.position() >= WORTH_WRITING_BYTES) {
            writeBuffer();
        }
    }

    public long lists() {
        return lists;
    }

    public long entries() {
        return entries;
    }

    /** Returns the size, in bytes, that the file will have once all sections added so far are written. */
    public long bytes() {
        return written + buffer.position();
    }

    /** Completes the file and gives it its final name. The checkpoint is durable when this returns. */
    public void publish(CheckpointHeader header) throws IOException {
        writeBuffer();
        file.write(encode(header, written), 0);
        file.force();
        storage.rename(FileNames.CHECKPOINT.temporary(number), FileNames.CHECKPOINT.of(number));
        published = true;
        storage.forceDirectory();
    }

    private static ByteBuffer encode(CheckpointHeader header, long fileBytes) {
        ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        FileHeader.put(
                bytes,
                FileNames.CHECKPOINT.letters(),
                new FileHeader.Fields(header.storeId(), header.number(), header.logSegmentBytes()));
        bytes.putLong(START_LSN, header.startLsn());
        bytes.putLong(END_LSN, header.endLsn());
        bytes.putLong(PREVIOUS_LSN, header.previous().lsn());
        bytes.putLong(LIST_COUNT, header.lists());
        bytes.putLong(ENTRY_COUNT, header.entries());
        bytes.putLong(FILE_BYTES, fileBytes);
        bytes.putInt(HEAP_SEGMENTS, header.heapSegments());
        bytes.putInt(HEAP_SEGMENT_BYTES, header.heapSegmentBytes());
        bytes.putInt(PARTITIONS, header.partitions());
        bytes.putInt(PREVIOUS_CRC, header.previous().crc());
        bytes.putInt(PREVIOUS_TERM, header.previous().term());
        bytes.putInt(HEADER_CRC, Checksums.crc32c(bytes, FileHeader.BYTES, HEADER_CRC - FileHeader.BYTES));
        return bytes;
    }

    /** Closes the file, and deletes it if it was not published, because its space may be needed. */
    @Override
    public void close() throws IOException {
        file.close();
        if (!published) {
            storage.delete(FileNames.CHECKPOINT.temporary(number));
        }
    }
}
