package io.caravan.engine;

import io.caravan.CorruptStoreException;
import io.caravan.format.EntryLayout;
import io.caravan.heap.HeapFile;
import io.caravan.io.StoreFile;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Copies entries from the mapped log to their places in the heap, through a buffer, and checks each on its way. One whose
 * bytes are not those that were written is copied as it is, so that nothing else has to wait for it: it stays as
 * unreadable as it was, and is noted with where it was, because the heap would be blamed for it from now on.
 */
final class EntryMove {
    private final HeapFile heapFile;
    private final LogSegments log;
    private final List<CorruptStoreException> damaged = new ArrayList<>();
    private final ByteBuffer buffer =
            ByteBuffer.allocateDirect(StoreFile.CACHED_TOGETHER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    /** Where in the heap the buffer's first byte goes. */
    private long bufferAddress;

    EntryMove(HeapFile heapFile, LogSegments log) {
        this.heapFile = heapFile;
        this.log = log;
    }

    /** Starts a batch. */
    void start() {
        buffer.clear();
        damaged.clear();
    }

    /**
     * Copies an entry.
     *
     * @throws IOException when the disk cannot read it, or has no space for it
     */
    void copy(long lsn, int length, long address, long id, long birth, long sequence) throws IOException {
        if (address != bufferAddress + buffer.position()) {
            writeOut();
            bufferAddress = address;
        }
        if (!copyAndCheck(lsn, length, id, birth, sequence)) {
            damaged.add(new CorruptStoreException(
                    log.describe(log.geometry().segmentOf(lsn)),
                    log.geometry().offsetOf(lsn),
                    id,
                    sequence,
                    "the entry's bytes are not those that were written; it moves to the heap as it is"));
        }
    }

    private boolean copyAndCheck(long lsn, int length, long id, long birth, long sequence) throws IOException {
        CRC32C crc = new CRC32C();
        int bytes = EntryLayout.entryBytes(length);
        int valueEnd = EntryLayout.VALUE + length;
        int checksum = 0;
        int foundLength = 0;
        for (int done = 0; done < bytes; ) {
            if (!buffer.hasRemaining()) {
                writeOut();
            }
            int at = buffer.position();
            int part = Math.min(bytes - done, buffer.remaining());
            copyPart(lsn + done, part);
            if (done == 0) {
                // Entries take multiples of 8 bytes, as the buffer does, so these 8 are together.
                checksum = buffer.getInt(at + EntryLayout.CHECKSUM);
                foundLength = buffer.getInt(at + EntryLayout.LENGTH);
            }
            int from = Math.max(done, EntryLayout.VALUE);
            int to = Math.min(done + part, valueEnd);
            if (from < to) {
                crc.update(buffer.duplicate().limit(at + to - done).position(at + from - done));
            }
            done += part;
        }
        return foundLength == length
                && checksum == EntryLayout.checksum((int) crc.getValue(), length, id, birth, sequence);
    }

    private void copyPart(long lsn, int bytes) throws IOException {
        try {
            if (!log.copy(lsn, buffer, bytes)) {
                throw new IllegalStateException(
                        "the index has an entry at LSN " + lsn + ", which is no longer in the log");
            }
        } catch (InternalError unreadable) {
            // This is how the JVM reports that the disk could not read a mapped page.
            throw new IOException(log.describe(log.geometry().segmentOf(lsn)) + " cannot be read", unreadable);
        }
    }

    private void writeOut() throws IOException {
        int bytes = buffer.flip().remaining();
        if (bytes > 0) {
            heapFile.write(bufferAddress, buffer);
        }
        bufferAddress += bytes;
        buffer.clear();
    }

    /** Writes what is still in the buffer; returns the damaged entries of the batch. */
    List<CorruptStoreException> finish() throws IOException {
        writeOut();
        return damaged;
    }
}
