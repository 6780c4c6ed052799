package io.caravan.server.archive.format;

import static io.caravan.server.archive.format.SnapshotLayout.ENTRY_CRC;
import static io.caravan.server.archive.format.SnapshotLayout.ENTRY_HEADER_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.ENTRY_LENGTH;
import static io.caravan.server.archive.format.SnapshotLayout.FOOTER_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.FOOTER_COUNT;
import static io.caravan.server.archive.format.SnapshotLayout.FOOTER_MARK;
import static io.caravan.server.archive.format.SnapshotLayout.FOOTER_SHA256;
import static io.caravan.server.archive.format.SnapshotLayout.FOOTER_VALUE_BYTES;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writes a snapshot to a stream, as {@link SnapshotLayout} says: the header when it is made, then block by block as
 * values are added. It holds at most two blocks, whatever the document's size, and nothing that must be closed: to give
 * up, leave it. The stream is neither flushed nor closed. Not for several threads.
 */
public final class SnapshotWriter {
    private final SnapshotHeader header;
    private final HashedOutput out;
    private final BlockWriter blocks;
    private final EntryChecksum checksum = new EntryChecksum();
    private final ByteBuffer entryHeader =
            ByteBuffer.allocate(ENTRY_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long nextSequence;
    private long valueBytes;

    /**
     * What was written.
     *
     * @param valueBytes sum of the values' lengths
     * @param objectBytes length of all that was written
     * @param sha256 its hash, in hexadecimal digits
     */
    public record Written(long valueBytes, long objectBytes, String sha256) {}

    /** Starts a snapshot. */
    public SnapshotWriter(OutputStream out, SnapshotHeader header) throws IOException {
        this.header = header;
        this.out = new HashedOutput(out);
        blocks = new BlockWriter(this.out);
        nextSequence = header.firstSequence();
        byte[] encoded = SnapshotHeaderCodec.encode(header);
        this.out.write(encoded, 0, encoded.length);
    }

    /**
     * Adds the next value.
     *
     * @param value its remaining bytes, which stay remaining
     * @throws IllegalArgumentException when the sequence is not the next, or the value is too long
     */
    public void add(long sequence, ByteBuffer value) throws IOException {
        if (sequence != nextSequence || sequence >= header.nextSequence()) {
            throw new IllegalArgumentException("a snapshot from " + header.firstSequence() + " to before "
                    + header.nextSequence() + " was given " + sequence + " in place of " + nextSequence);
        }
        if (value.remaining() > SnapshotLayout.MAX_VALUE_BYTES) {
            throw new IllegalArgumentException("a value of " + value.remaining() + " bytes at " + sequence
                    + " is longer than the " + SnapshotLayout.MAX_VALUE_BYTES + " that a snapshot takes");
        }
        entryHeader.clear().putInt(ENTRY_LENGTH, value.remaining()).putInt(ENTRY_CRC, checksum.of(sequence, value));
        blocks.write(entryHeader);
        blocks.write(value.duplicate());
        valueBytes += value.remaining();
        nextSequence++;
    }

    /**
     * Writes what is left and the footer.
     *
     * @throws IllegalStateException when values are missing
     */
    public Written finish() throws IOException {
        if (nextSequence != header.nextSequence()) {
            throw new IllegalStateException("a snapshot from " + header.firstSequence() + " to before "
                    + header.nextSequence() + " was ended before " + nextSequence);
        }
        blocks.finish();
        ByteBuffer footer = ByteBuffer.allocate(FOOTER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        footer.putInt(FOOTER_MARK, SnapshotLayout.MARK_VALUE);
        footer.putLong(FOOTER_COUNT, header.count());
        footer.putLong(FOOTER_VALUE_BYTES, valueBytes);
        out.write(footer.array(), 0, FOOTER_SHA256);
        out.write(out.sha256(), 0, Sha256.BYTES);
        return new Written(valueBytes, out.bytes(), Sha256.hex(out.sha256()));
    }
}
