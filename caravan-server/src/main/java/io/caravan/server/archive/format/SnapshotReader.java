package io.caravan.server.archive.format;

import static io.caravan.server.archive.format.SnapshotLayout.*;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.object.Digests;
import io.caravan.server.archive.object.ObjectStoreException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.UUID;
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
    private final SnapshotInput in;
    private final SnapshotHeader header;
    private final EntryChecksum checksum = new EntryChecksum();
    private ByteBuffer value = ByteBuffer.allocate(0);
    private long sequence;
    private long valueBytes;
    private boolean whole;
    private @Nullable Generation expected;

    private SnapshotReader(SnapshotInput in) {
        this.in = in;
        header = SnapshotHeader.read(in);
        in.document(header.name());
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
        if (!in.hasMore()) {
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
        ByteBuffer entryHeader = in.raw(ENTRY_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        int length = entryHeader.getInt(ENTRY_LENGTH);
        int crc = entryHeader.getInt(ENTRY_CRC);
        if (length < 0 || length > MAX_VALUE_BYTES) {
            throw in.corrupt("a value of " + length + " bytes");
        }
        value = in.raw(length);
        if (checksum.of(sequence, value) != crc) {
            throw in.corrupt("the value's checksum is wrong");
        }
        valueBytes += length;
    }

    private void finish() {
        if (in.hasMore()) {
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
}
