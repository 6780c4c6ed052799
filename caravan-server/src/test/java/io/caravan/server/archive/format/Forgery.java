package io.caravan.server.archive.format;

import io.caravan.server.archive.object.Digests;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Corrects the checksums of a changed snapshot up to its first invalid length, so that readers do not stop at a wrong
 * checksum.
 */
final class Forgery {
    private final ByteBuffer object;
    /** The positions, in the object, of all bytes in uncompressed blocks. */
    private final int[] rawAt;

    private int rawBytes;
    private boolean compressed;

    private Forgery(byte[] object) {
        this.object = ByteBuffer.wrap(object).order(ByteOrder.LITTLE_ENDIAN);
        rawAt = new int[object.length];
    }

    static byte[] sealed(byte[] changed) {
        byte[] object = changed.clone();
        if (object.length >= SnapshotLayout.HEADER_BYTES) {
            new Forgery(object).seal();
        }
        return object;
    }

    /** Returns a copy of the object with this 4-byte number at an offset, and with correct checksums. */
    static byte[] with(byte[] object, int at, int number) {
        byte[] changed = object.clone();
        ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putInt(at, number);
        return sealed(changed);
    }

    /** Returns a copy of the object with correct checksums, except for those of the entries. */
    static byte[] withBlocksSealed(byte[] changed) {
        byte[] object = changed.clone();
        Forgery forgery = new Forgery(object);
        forgery.compressed = true;
        forgery.seal();
        return object;
    }

    private void seal() {
        object.putInt(SnapshotLayout.VERSION_CRC, crc(0, SnapshotLayout.VERSION_CRC));
        int headerEnd = SnapshotLayout.HEADER_BYTES
                + Short.toUnsignedInt(object.getShort(SnapshotLayout.NAME_BYTES))
                + Short.toUnsignedInt(object.getShort(SnapshotLayout.ATTRIBUTES_BYTES));
        if (headerEnd > object.limit()) {
            return;
        }
        object.putInt(SnapshotLayout.HEADER_CRC, crc(SnapshotLayout.NAME_BYTES, headerEnd));
        collect(headerEnd);
        sealEntries();
        sealBlocks(headerEnd);
    }

    private boolean isBlock(int at) {
        return at + SnapshotLayout.BLOCK_HEADER_BYTES <= object.limit()
                && object.getInt(at) != SnapshotLayout.MARK_VALUE
                && stored(at) >= 0
                && stored(at) <= object.limit() - at - SnapshotLayout.BLOCK_HEADER_BYTES;
    }

    private int stored(int at) {
        return object.getInt(at + SnapshotLayout.BLOCK_STORED_BYTES);
    }

    private int behind(int at) {
        return at + SnapshotLayout.BLOCK_HEADER_BYTES + stored(at);
    }

    private void collect(int headerEnd) {
        for (int at = headerEnd; isBlock(at); at = behind(at)) {
            compressed |= object.getInt(at + SnapshotLayout.BLOCK_CODEC) != SnapshotLayout.STORED;
            for (int i = at + SnapshotLayout.BLOCK_HEADER_BYTES; i < behind(at) && !compressed; i++) {
                rawAt[rawBytes++] = i;
            }
        }
    }

    private void sealEntries() {
        long sequence = object.getLong(SnapshotLayout.FIRST_SEQUENCE);
        int at = 0;
        while (at + SnapshotLayout.ENTRY_HEADER_BYTES <= rawBytes) {
            int length = ByteBuffer.wrap(raw(at, Integer.BYTES))
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .getInt();
            int valueAt = at + SnapshotLayout.ENTRY_HEADER_BYTES;
            if (length < 0 || length > rawBytes - valueAt) {
                return;
            }
            int checksum = new SnapshotLayout.EntryChecksum().of(sequence++, ByteBuffer.wrap(raw(valueAt, length)));
            for (int i = 0; i < Integer.BYTES; i++) {
                object.put(rawAt[at + SnapshotLayout.ENTRY_CRC + i], (byte) (checksum >>> Byte.SIZE * i));
            }
            at = valueAt + length;
        }
    }

    private byte[] raw(int from, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = object.get(rawAt[from + i]);
        }
        return bytes;
    }

    private void sealBlocks(int headerEnd) {
        int at = headerEnd;
        for (; isBlock(at); at = behind(at)) {
            CRC32C crc = new CRC32C();
            crc.update(object.array(), at, SnapshotLayout.BLOCK_CRC);
            crc.update(object.array(), at + SnapshotLayout.BLOCK_HEADER_BYTES, stored(at));
            object.putInt(at + SnapshotLayout.BLOCK_CRC, (int) crc.getValue());
        }
        int hashAt = at + SnapshotLayout.FOOTER_SHA256;
        if (hashAt + Digests.SHA256_BYTES <= object.limit()) {
            object.put(hashAt, Digests.sha256().digest(Arrays.copyOf(object.array(), hashAt)));
        }
    }

    private int crc(int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(object.array(), from, to - from);
        return (int) crc.getValue();
    }
}
