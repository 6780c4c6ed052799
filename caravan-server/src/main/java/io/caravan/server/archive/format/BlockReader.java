package io.caravan.server.archive.format;

import static io.caravan.server.archive.format.SnapshotLayout.BLOCK_CODEC;
import static io.caravan.server.archive.format.SnapshotLayout.BLOCK_CRC;
import static io.caravan.server.archive.format.SnapshotLayout.BLOCK_HEADER_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.BLOCK_RAW_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.BLOCK_STORED_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.MARK_VALUE;
import static io.caravan.server.archive.format.SnapshotLayout.MAX_BLOCK_BYTES;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Puts the raw bytes of a snapshot's blocks together. A block is valid when, in this order: (1) its raw length is from
 * 1 to the longest; (2) it is stored in at least one byte and not in more than its raw length; (3) its codec is known,
 * and what is stored as it is has the raw length; (4) its CRC is right; (5) it decompresses to its raw length. Not for
 * several threads.
 */
final class BlockReader {
    private final SnapshotInput in;
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer header = ByteBuffer.allocate(BLOCK_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private byte[] stored = new byte[0];
    private byte[] raw = new byte[0];
    private int at;
    private int end;
    private boolean ended;

    BlockReader(SnapshotInput in) {
        this.in = in;
    }

    /** Whether there are more raw bytes; otherwise the footer's mark has been read. */
    boolean hasMore() {
        if (at == end && !ended) {
            readBlock();
        }
        return at < end;
    }

    /** Raw bytes that are here, 0 when another block has to be read for more. */
    int here() {
        return end - at;
    }

    /** The next bytes, which are here; valid until more are asked for. */
    ByteBuffer take(int length) {
        ByteBuffer taken = ByteBuffer.wrap(raw, at, length).slice();
        at += length;
        return taken;
    }

    /**
     * Reads what is here of so many bytes, at least one.
     *
     * @return how many it was
     * @throws io.caravan.server.archive.format.ArchiveException {@code CORRUPT} when there is none
     */
    int read(byte[] target, int from, int length) {
        if (!hasMore()) {
            throw in.corrupt("its blocks end within a value");
        }
        int count = Math.min(length, here());
        System.arraycopy(raw, at, target, from, count);
        at += count;
        return count;
    }

    private void readBlock() {
        in.read(header.array(), 0, Integer.BYTES);
        int rawBytes = header.getInt(BLOCK_RAW_BYTES);
        if (rawBytes == MARK_VALUE) {
            ended = true;
            return;
        }
        in.read(header.array(), Integer.BYTES, BLOCK_HEADER_BYTES - Integer.BYTES);
        int storedBytes = header.getInt(BLOCK_STORED_BYTES);
        check(rawBytes >= 1 && rawBytes <= MAX_BLOCK_BYTES, "its length is " + rawBytes);
        check(storedBytes >= 1 && storedBytes <= rawBytes, storedBytes + " bytes are stored of " + rawBytes);
        raw = withRoom(raw, rawBytes);
        int codec = header.getInt(BLOCK_CODEC);
        switch (codec) {
            case SnapshotLayout.STORED -> {
                check(storedBytes == rawBytes, storedBytes + " bytes are stored of " + rawBytes);
                readStored(raw, storedBytes);
            }
            case SnapshotLayout.ZSTD -> {
                stored = withRoom(stored, storedBytes);
                readStored(stored, storedBytes);
                decompress(storedBytes, rawBytes);
            }
            default -> throw wrong("its codec is " + codec);
        }
        at = 0;
        end = rawBytes;
    }

    /** Doubles, so that blocks of rising lengths are not each a new array. */
    private static byte[] withRoom(byte[] bytes, int length) {
        return bytes.length < length ? new byte[Math.max(length, Math.min(2 * bytes.length, MAX_BLOCK_BYTES))] : bytes;
    }

    private void readStored(byte[] target, int length) {
        in.read(target, 0, length);
        crc.reset();
        crc.update(header.array(), 0, BLOCK_CRC);
        crc.update(target, 0, length);
        check((int) crc.getValue() == header.getInt(BLOCK_CRC), "its checksum is wrong");
    }

    private void decompress(int storedBytes, int rawBytes) {
        try {
            long length = Zstd.decompressByteArray(raw, 0, rawBytes, stored, 0, storedBytes);
            check(length == rawBytes, "it decompresses to " + length + " bytes in place of " + rawBytes);
        } catch (ZstdException invalid) {
            throw wrong("it does not decompress: " + invalid.getMessage());
        }
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw wrong(otherwise);
        }
    }

    private RuntimeException wrong(String problem) {
        return in.corrupt("a block is wrong: " + problem);
    }
}
