package io.caravan.server.archive.format;

import static io.caravan.server.archive.format.SnapshotLayout.BLOCK_CODEC;
import static io.caravan.server.archive.format.SnapshotLayout.BLOCK_CRC;
import static io.caravan.server.archive.format.SnapshotLayout.BLOCK_HEADER_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.BLOCK_RAW_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.BLOCK_STORED_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.MAX_BLOCK_BYTES;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Cuts raw bytes into blocks. Its two buffers, each with room for a block's header in front, grow with what is written,
 * up to one block: most documents are small. Not for several threads.
 */
final class BlockWriter {
    private static final int FIRST_BYTES = 4096;

    private final HashedOutput out;
    private final Compressor compressor = new Compressor();
    private final CRC32C crc = new CRC32C();
    private byte[] raw = new byte[BLOCK_HEADER_BYTES + FIRST_BYTES];
    private byte[] compressed = new byte[0];
    private int rawEnd = BLOCK_HEADER_BYTES;

    BlockWriter(HashedOutput out) {
        this.out = out;
    }

    /** Adds the remaining bytes, to several blocks if need be. The buffer's position becomes its limit. */
    void write(ByteBuffer source) throws IOException {
        while (source.hasRemaining()) {
            int length = Math.min(source.remaining(), BLOCK_HEADER_BYTES + MAX_BLOCK_BYTES - rawEnd);
            reserve(length);
            source.get(raw, rawEnd, length);
            rawEnd += length;
            if (rawEnd == BLOCK_HEADER_BYTES + MAX_BLOCK_BYTES) {
                endBlock();
            }
        }
    }

    private void reserve(int length) {
        if (rawEnd + length > raw.length) {
            int doubled = Math.max(rawEnd + length, 2 * raw.length);
            raw = Arrays.copyOf(raw, Math.min(doubled, BLOCK_HEADER_BYTES + MAX_BLOCK_BYTES));
        }
    }

    /** Writes what is left as the last block. */
    void finish() throws IOException {
        if (rawEnd > BLOCK_HEADER_BYTES) {
            endBlock();
        }
    }

    private void endBlock() throws IOException {
        int rawBytes = rawEnd - BLOCK_HEADER_BYTES;
        int compressedBytes = compressor.worthTrying(rawBytes) ? compress(rawBytes) : -1;
        if (compressedBytes < 0) {
            writeBlock(raw, rawBytes, rawBytes, SnapshotLayout.STORED);
        } else {
            writeBlock(compressed, rawBytes, compressedBytes, SnapshotLayout.ZSTD);
        }
        rawEnd = BLOCK_HEADER_BYTES;
    }

    private int compress(int rawBytes) {
        int needed = BLOCK_HEADER_BYTES + Compressor.maxBytes(rawBytes);
        if (compressed.length < needed) {
            compressed = new byte[needed];
        }
        return compressor.compress(raw, BLOCK_HEADER_BYTES, rawBytes, compressed, BLOCK_HEADER_BYTES);
    }

    private void writeBlock(byte[] block, int rawBytes, int storedBytes, int codec) throws IOException {
        ByteBuffer header = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(BLOCK_RAW_BYTES, rawBytes);
        header.putInt(BLOCK_STORED_BYTES, storedBytes);
        header.putInt(BLOCK_CODEC, codec);
        crc.reset();
        crc.update(block, 0, BLOCK_CRC);
        crc.update(block, BLOCK_HEADER_BYTES, storedBytes);
        header.putInt(BLOCK_CRC, (int) crc.getValue());
        out.write(block, 0, BLOCK_HEADER_BYTES + storedBytes);
    }
}
