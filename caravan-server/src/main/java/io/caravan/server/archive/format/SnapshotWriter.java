package io.caravan.server.archive.format;

import static io.caravan.server.archive.format.SnapshotLayout.*;

import com.github.luben.zstd.Zstd;
import io.caravan.server.archive.object.Digests;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Writes a snapshot to a stream in the format of {@link SnapshotLayout}: the header on creation, then the blocks as
 * values are added. It holds at most two blocks in memory, regardless of the document's size, and need not be closed.
 * It neither flushes nor closes the stream. Not thread-safe.
 */
public final class SnapshotWriter {
    private static final int FIRST_BYTES = 4096;
    /** The fastest regular compression level. Higher levels take several times as long to save another tenth. */
    private static final int LEVEL = 1;

    private final SnapshotHeader header;
    private final OutputStream out;
    private final MessageDigest digest = Digests.sha256();
    private final CRC32C crc = new CRC32C();
    private final EntryChecksum checksum = new EntryChecksum();
    private final ByteBuffer entryHeader =
            ByteBuffer.allocate(ENTRY_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    /** Space for a block header and the current block. It grows, because most documents are smaller than a block. */
    private byte[] raw = new byte[BLOCK_HEADER_BYTES + FIRST_BYTES];

    private int rawEnd = BLOCK_HEADER_BYTES;
    private byte[] compressed = new byte[0];
    private long nextSequence;
    private long valueBytes;
    private long objectBytes;

    public SnapshotWriter(OutputStream out, SnapshotHeader header) throws IOException {
        this.header = header;
        this.out = out;
        nextSequence = header.firstSequence();
        byte[] encoded = header.encode();
        write(encoded, encoded.length);
    }

    /**
     * Adds the next value.
     *
     * @param value the buffer whose remaining bytes are the value; they are not consumed
     * @throws IllegalArgumentException when the sequence is not the next, or the value is too long
     */
    public void add(long sequence, ByteBuffer value) throws IOException {
        if (sequence != nextSequence || sequence >= header.nextSequence()) {
            throw new IllegalArgumentException("a snapshot from " + header.firstSequence() + " to before "
                    + header.nextSequence() + " was given " + sequence + " instead of " + nextSequence);
        }
        if (value.remaining() > MAX_VALUE_BYTES) {
            throw new IllegalArgumentException("a value of " + value.remaining() + " bytes at " + sequence
                    + " is longer than the " + MAX_VALUE_BYTES + " that a snapshot accepts");
        }
        entryHeader.clear().putInt(ENTRY_LENGTH, value.remaining()).putInt(ENTRY_CRC, checksum.of(sequence, value));
        addRaw(entryHeader);
        addRaw(value.duplicate());
        valueBytes += value.remaining();
        nextSequence++;
    }

    private void addRaw(ByteBuffer source) throws IOException {
        int fullEnd = BLOCK_HEADER_BYTES + MAX_BLOCK_BYTES;
        while (source.hasRemaining()) {
            int length = Math.min(source.remaining(), fullEnd - rawEnd);
            if (rawEnd + length > raw.length) {
                raw = Arrays.copyOf(raw, Math.min(Math.max(rawEnd + length, 2 * raw.length), fullEnd));
            }
            source.get(raw, rawEnd, length);
            rawEnd += length;
            if (rawEnd == fullEnd) {
                endBlock();
            }
        }
    }

    /**
     * Writes the last block and the footer, and returns the generation for the manifest.
     *
     * @param key the object to which the stream writes
     * @throws IllegalStateException when values are missing
     */
    public Generation finish(String key) throws IOException {
        if (nextSequence != header.nextSequence()) {
            throw new IllegalStateException("a snapshot from " + header.firstSequence() + " to before "
                    + header.nextSequence() + " was ended before " + nextSequence);
        }
        if (rawEnd > BLOCK_HEADER_BYTES) {
            endBlock();
        }
        ByteBuffer footer = ByteBuffer.allocate(FOOTER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        footer.putInt(FOOTER_MARK, MARK_VALUE);
        footer.putLong(FOOTER_COUNT, header.count());
        footer.putLong(FOOTER_VALUE_BYTES, valueBytes);
        write(footer.array(), FOOTER_SHA256);
        write(Digests.soFar(digest), Digests.SHA256_BYTES);
        return new Generation(
                header.generation(),
                key,
                header.incarnation(),
                header.epoch(),
                header.firstSequence(),
                header.nextSequence(),
                header.takenAtMillis(),
                valueBytes,
                objectBytes,
                Digests.hex(digest.digest()));
    }

    /** Writes the current block, compressed if this saves at least a tenth. */
    private void endBlock() throws IOException {
        int rawBytes = rawEnd - BLOCK_HEADER_BYTES;
        int room = (int) Zstd.compressBound(rawBytes);
        if (compressed.length < BLOCK_HEADER_BYTES + room) {
            compressed = new byte[BLOCK_HEADER_BYTES + room];
        }
        long compressedBytes =
                Zstd.compressByteArray(compressed, BLOCK_HEADER_BYTES, room, raw, BLOCK_HEADER_BYTES, rawBytes, LEVEL);
        if (compressedBytes <= rawBytes - rawBytes / 10) {
            writeBlock(compressed, rawBytes, (int) compressedBytes, ZSTD);
        } else {
            writeBlock(raw, rawBytes, rawBytes, STORED);
        }
        rawEnd = BLOCK_HEADER_BYTES;
    }

    private void writeBlock(byte[] block, int rawBytes, int storedBytes, int codec) throws IOException {
        ByteBuffer blockHeader = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
        blockHeader.putInt(BLOCK_RAW_BYTES, rawBytes);
        blockHeader.putInt(BLOCK_STORED_BYTES, storedBytes);
        blockHeader.putInt(BLOCK_CODEC, codec);
        crc.reset();
        crc.update(block, 0, BLOCK_CRC);
        crc.update(block, BLOCK_HEADER_BYTES, storedBytes);
        blockHeader.putInt(BLOCK_CRC, (int) crc.getValue());
        write(block, BLOCK_HEADER_BYTES + storedBytes);
    }

    private void write(byte[] bytes, int length) throws IOException {
        digest.update(bytes, 0, length);
        objectBytes += length;
        out.write(bytes, 0, length);
    }
}
