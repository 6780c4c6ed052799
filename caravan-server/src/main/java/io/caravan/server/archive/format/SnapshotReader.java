package io.caravan.server.archive.format;

import static io.caravan.server.archive.format.SnapshotLayout.ENTRY_CRC;
import static io.caravan.server.archive.format.SnapshotLayout.ENTRY_HEADER_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.ENTRY_LENGTH;
import static io.caravan.server.archive.format.SnapshotLayout.FOOTER_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.FOOTER_COUNT;
import static io.caravan.server.archive.format.SnapshotLayout.FOOTER_SHA256;
import static io.caravan.server.archive.format.SnapshotLayout.FOOTER_VALUE_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.MAX_VALUE_BYTES;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.object.ObjectStoreException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads a snapshot from a stream and checks every byte of it. A value is checked before it is told; that the snapshot
 * is whole is known when {@link #next} has returned false, and no sooner. It holds two blocks and the longest value so
 * far, whatever lengths the bytes claim. Not for several threads.
 *
 * <p>Errors are {@link ArchiveException}s, {@code CORRUPT} and {@code VERSION}, which name object, byte, document and
 * sequence, and the {@link ObjectStoreException}s of the stream.
 */
public final class SnapshotReader implements AutoCloseable {
    /** First room for a value that does not lie in one block; it grows with what has come of the value. */
    private static final int FIRST_VALUE_BYTES = 1 << 20;

    private final SnapshotInput in;
    private final SnapshotHeader header;
    private final BlockReader blocks;
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
        header = SnapshotHeaderCodec.read(in);
        in.document(header.name());
        blocks = new BlockReader(in);
        sequence = header.firstSequence() - 1;
    }

    /**
     * Reads a snapshot's header.
     *
     * @param in the object, from now on closed with the reader, or by this method when it throws
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
     * Has the snapshot be one that a manifest names: its header is compared now, its size and hash at its end.
     *
     * @throws ArchiveException {@code CORRUPT} when it is another one; the reader stays open
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
            throw in.corrupt("the manifest names generation " + generation.number() + " of document '" + name
                    + "' here, sequences " + generation.firstSequence() + " to before " + generation.nextSequence()
                    + ", and it is generation " + header.generation() + " of document '" + header.name()
                    + "' of the store " + header.store() + ", sequences " + header.firstSequence() + " to before "
                    + header.nextSequence());
        }
        expected = generation;
        return this;
    }

    /** What the snapshot says of itself. */
    public SnapshotHeader header() {
        return header;
    }

    /** Goes to the next value. When there is none, false: then the footer has been checked too. */
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
            throw in.corrupt("its values end here, and it is to have those before " + header.nextSequence());
        }
        readEntry();
        return true;
    }

    /** The current value's sequence. */
    public long sequence() {
        return sequence;
    }

    /** The current value, read-only, until {@link #next} is called. */
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
        value = length <= blocks.here() ? blocks.take(length) : assembled(length);
        if (checksum.of(sequence, value) != entryHeader.getInt(ENTRY_CRC)) {
            throw in.corrupt("the value's checksum is wrong");
        }
        valueBytes += length;
    }

    /** A value of several blocks. */
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
            throw in.corrupt("more values than those before " + header.nextSequence());
        }
        ByteBuffer footer = ByteBuffer.allocate(FOOTER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        in.read(footer.array(), FOOTER_COUNT, FOOTER_SHA256 - FOOTER_COUNT);
        byte[] hash = in.sha256();
        in.read(footer.array(), FOOTER_SHA256, Sha256.BYTES);
        if (!MessageDigest.isEqual(hash, Arrays.copyOfRange(footer.array(), FOOTER_SHA256, FOOTER_BYTES))) {
            throw in.corrupt("its SHA-256 is not the one in its footer");
        }
        if (footer.getLong(FOOTER_COUNT) != header.count() || footer.getLong(FOOTER_VALUE_BYTES) != valueBytes) {
            throw in.corrupt("it has " + header.count() + " values of " + valueBytes + " bytes, and its footer says "
                    + footer.getLong(FOOTER_COUNT) + " of " + footer.getLong(FOOTER_VALUE_BYTES));
        }
        in.end();
        if (expected != null
                && (in.bytes() != expected.objectBytes()
                        || !Sha256.hex(in.sha256()).equals(expected.sha256()))) {
            throw in.corrupt("it has " + in.bytes() + " bytes with the SHA-256 " + Sha256.hex(in.sha256())
                    + ", and its manifest says " + expected.objectBytes() + " with " + expected.sha256());
        }
        whole = true;
    }

    /** Sum of the values' lengths, after the end. */
    public long valueBytes() {
        return atEnd(valueBytes);
    }

    /** Length of the object, after the end. */
    public long objectBytes() {
        return atEnd(in.bytes());
    }

    /** Hash of the object in hexadecimal digits, after the end. */
    public String sha256() {
        return Sha256.hex(atEnd(in.sha256()));
    }

    private <T> T atEnd(T result) {
        if (!whole) {
            throw new IllegalStateException("the snapshot has not been read to its end");
        }
        return result;
    }

    @Override
    public void close() {
        in.close();
    }
}
