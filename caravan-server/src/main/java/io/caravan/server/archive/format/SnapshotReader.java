package io.caravan.server.archive.format;

import static io.caravan.server.archive.format.SnapshotLayout.*;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.object.Digests;
import io.caravan.server.archive.object.ObjectStoreException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads a snapshot from a stream and checks every byte of it. A value is checked before it is returned. The entire
 * snapshot is verified only once {@link #next} has returned false. Memory is limited to two blocks and the longest
 * value so far, regardless of the lengths that the snapshot states. Not thread-safe.
 *
 * <p>Errors are the {@link ObjectStoreException}s of the stream, and {@link ArchiveException}s, {@code CORRUPT} and
 * {@code VERSION}, which name object, byte, document and sequence.
 */
public final class SnapshotReader implements AutoCloseable {
    /** The size of the initial buffer for a value that spans blocks; it grows as the value is read. */
    private static final int FIRST_VALUE_BYTES = 1 << 20;

    private final SnapshotInput in;
    private final SnapshotHeader header;
    private final Blocks blocks;
    private final EntryChecksum checksum = new EntryChecksum();
    private final ByteBuffer entryHeader =
            ByteBuffer.allocate(ENTRY_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private byte[] room = new byte[0];
    private ByteBuffer value = ByteBuffer.allocate(0);
    private long sequence;
    private long valueBytes;
    private boolean whole;
    private @Nullable Generation expected;

    private SnapshotReader(SnapshotInput in) {
        this.in = in;
        header = SnapshotHeader.read(in);
        in.document(header.name());
        blocks = new Blocks(in);
        sequence = header.firstSequence() - 1;
    }

    /**
     * Reads a snapshot's header.
     *
     * @param in the object; closed by the reader, or by this method if it throws
     * @param object its key or address, for messages
     */
    public static SnapshotReader open(InputStream in, String object) {
        SnapshotInput input = new SnapshotInput(in, object);
        try {
            return new SnapshotReader(input);
        } catch (RuntimeException problem) {
            try (input) {
                throw problem;
            }
        }
    }

    /**
     * Requires the snapshot to be the one that a manifest names. Compares its header now, and its size and hash when
     * the end is reached.
     *
     * @throws ArchiveException {@code CORRUPT} when it is not; the reader is then closed
     */
    public SnapshotReader expect(UUID store, DocumentName name, Generation generation) {
        boolean same = header.store().equals(store)
                && header.name().equals(name)
                && header.incarnation() == generation.incarnation()
                && header.generation() == generation.number()
                && header.epoch() == generation.epoch()
                && header.firstSequence() == generation.firstSequence()
                && header.nextSequence() == generation.nextSequence();
        if (!same) {
            try (in) {
                throw in.corrupt("the manifest names generation " + generation.number() + " of document '" + name
                        + "' here, sequences " + generation.firstSequence() + " to before " + generation.nextSequence()
                        + ", and it is generation " + header.generation() + " of document '" + header.name()
                        + "' of the store " + header.store() + ", sequences " + header.firstSequence() + " to before "
                        + header.nextSequence());
            }
        }
        expected = generation;
        return this;
    }

    public SnapshotHeader header() {
        return header;
    }

    /** Advances to the next value. Returns false when there is none; the footer has then been checked. */
    public boolean next() {
        if (whole) {
            return false;
        }
        if (sequence + 1 == header.nextSequence()) {
            finish();
            return false;
        }
        sequence++;
        in.sequence(sequence);
        if (!blocks.hasMore()) {
            throw in.corrupt("its values end here, but it must have those before " + header.nextSequence());
        }
        readEntry();
        return true;
    }

    /** Returns the current value's sequence. */
    public long sequence() {
        return sequence;
    }

    /** Returns the current value as a read-only buffer, which is valid until {@link #next} is called. */
    public ByteBuffer value() {
        return value.asReadOnlyBuffer();
    }

    private void readEntry() {
        for (int filled = 0; filled < ENTRY_HEADER_BYTES; ) {
            filled += blocks.read(entryHeader.array(), filled, ENTRY_HEADER_BYTES - filled);
        }
        int length = entryHeader.getInt(ENTRY_LENGTH);
        if (length < 0 || length > MAX_VALUE_BYTES) {
            throw in.corrupt("a value of " + length + " bytes");
        }
        value = length <= blocks.left() ? blocks.take(length) : assembled(length);
        if (checksum.of(sequence, value) != entryHeader.getInt(ENTRY_CRC)) {
            throw in.corrupt("the value's checksum is wrong");
        }
        valueBytes += length;
    }

    private ByteBuffer assembled(int length) {
        for (int filled = 0; filled < length; ) {
            if (filled == room.length) {
                room = Arrays.copyOf(room, Math.min(length, Math.max(FIRST_VALUE_BYTES, 2 * filled)));
            }
            filled += blocks.read(room, filled, Math.min(length, room.length) - filled);
        }
        return ByteBuffer.wrap(room, 0, length).slice();
    }

    private void finish() {
        if (blocks.hasMore()) {
            throw in.corrupt("it has more values than those before " + header.nextSequence());
        }
        ByteBuffer footer = ByteBuffer.allocate(FOOTER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        in.read(footer.array(), FOOTER_COUNT, FOOTER_SHA256 - FOOTER_COUNT);
        byte[] hash = in.sha256();
        in.read(footer.array(), FOOTER_SHA256, Digests.SHA256_BYTES);
        if (!MessageDigest.isEqual(hash, Arrays.copyOfRange(footer.array(), FOOTER_SHA256, FOOTER_BYTES))) {
            throw in.corrupt("its SHA-256 is not the one in its footer");
        }
        if (footer.getLong(FOOTER_COUNT) != header.count() || footer.getLong(FOOTER_VALUE_BYTES) != valueBytes) {
            throw in.corrupt("it has " + header.count() + " values of " + valueBytes + " bytes, and its footer says "
                    + footer.getLong(FOOTER_COUNT) + " of " + footer.getLong(FOOTER_VALUE_BYTES));
        }
        in.end();
        String sha256 = Digests.hex(in.sha256());
        if (expected != null && (in.bytes() != expected.objectBytes() || !sha256.equals(expected.sha256()))) {
            throw in.corrupt("it has " + in.bytes() + " bytes with the SHA-256 " + sha256 + ", and its manifest says "
                    + expected.objectBytes() + " with " + expected.sha256());
        }
        whole = true;
    }

    @Override
    public void close() {
        in.close();
    }

    /**
     * The raw bytes of a snapshot's blocks, concatenated. A block is valid when, in this order:
     *
     * <ol>
     *   <li>Its raw length is from 1 to the maximum.
     *   <li>Its stored length is from 1 to its raw length.
     *   <li>Its codec is known, and the stored length of an uncompressed block is its raw length.
     *   <li>Its CRC is correct.
     *   <li>It decompresses to its raw length.
     * </ol>
     */
    private static final class Blocks {
        private final SnapshotInput in;
        private final CRC32C crc = new CRC32C();
        private final ByteBuffer header =
                ByteBuffer.allocate(BLOCK_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        private byte[] stored = new byte[0];
        private byte[] raw = new byte[0];
        private int at;
        private int end;
        private boolean ended;

        Blocks(SnapshotInput in) {
            this.in = in;
        }

        /** Whether more raw bytes follow; if not, the footer's mark has been read. */
        boolean hasMore() {
            if (at == end && !ended) {
                readBlock();
            }
            return at < end;
        }

        /** Returns the number of remaining raw bytes in the current block. */
        int left() {
            return end - at;
        }

        /** Returns the next bytes of the current block; valid until more are read. */
        ByteBuffer take(int length) {
            at += length;
            return ByteBuffer.wrap(raw, at - length, length).slice();
        }

        /** Reads up to this number of bytes, but at least one, and returns the number of bytes read. */
        int read(byte[] target, int from, int length) {
            if (!hasMore()) {
                throw in.corrupt("its blocks end within a value");
            }
            int count = Math.min(length, left());
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
                case STORED -> {
                    check(storedBytes == rawBytes, storedBytes + " bytes are stored of " + rawBytes);
                    readStored(raw, storedBytes);
                }
                case ZSTD -> {
                    stored = withRoom(stored, storedBytes);
                    readStored(stored, storedBytes);
                    decompress(storedBytes, rawBytes);
                }
                default -> throw wrong("its codec is " + codec);
            }
            at = 0;
            end = rawBytes;
        }

        /** Returns the array or, if it is too short, a new one of up to twice its length, so that few are needed. */
        private static byte[] withRoom(byte[] bytes, int length) {
            return bytes.length < length
                    ? new byte[Math.max(length, Math.min(2 * bytes.length, MAX_BLOCK_BYTES))]
                    : bytes;
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
                check(length == rawBytes, "it decompresses to " + length + " bytes instead of " + rawBytes);
            } catch (ZstdException invalid) {
                throw wrong("it does not decompress: " + invalid.getMessage());
            }
        }

        private void check(boolean holds, String otherwise) {
            if (!holds) {
                throw wrong(otherwise);
            }
        }

        private ArchiveException wrong(String problem) {
            return in.corrupt("a block is wrong: " + problem);
        }
    }
}
