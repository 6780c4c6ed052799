package io.caravan.server.archive.format;

import static io.caravan.server.archive.format.SnapshotLayout.*;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The header of a snapshot, before its values. Its bytes are valid when, in this order:
 *
 * <ol>
 *   <li>The magic is correct.
 *   <li>The CRC of magic and version is correct.
 *   <li>The version is one that this release reads.
 *   <li>The lengths of name and attributes are within their limits.
 *   <li>The header's CRC is correct.
 *   <li>The attributes are valid, no number except the incarnation is below 0, the generation is at least 1, and the
 *   first sequence is not above the next sequence.
 * </ol>
 *
 * @param store identity of the document's store
 * @param name the document
 * @param incarnation distinguishes this document from earlier and later ones of the same name
 * @param generation number of this snapshot among those of the name, counted from 1
 * @param epoch number of the archive's owner that wrote the snapshot
 * @param firstSequence sequence of the first value; equal to {@code nextSequence} when there is none
 * @param nextSequence sequence of the document's next value
 * @param takenAtMillis when the snapshot was taken, by the server's clock, in milliseconds since 1970
 * @param attributes the document's attributes, without those that are meaningful only in its store
 */
public record SnapshotHeader(
        UUID store,
        DocumentName name,
        long incarnation,
        long generation,
        long epoch,
        long firstSequence,
        long nextSequence,
        long takenAtMillis,
        Attributes attributes) {

    /** Throws an {@link IllegalArgumentException} when a number is invalid. */
    public SnapshotHeader {
        if (generation < 1 || epoch < 0 || firstSequence < 0 || firstSequence > nextSequence || takenAtMillis < 0) {
            throw new IllegalArgumentException("a snapshot cannot have generation " + generation + ", epoch " + epoch
                    + ", sequences from " + firstSequence + " to before " + nextSequence + ", and be taken at "
                    + takenAtMillis);
        }
    }

    public long count() {
        return nextSequence - firstSequence;
    }

    byte[] encode() {
        byte[] nameBytes = name.toBytes();
        byte[] attributeBytes = attributes.encoded();
        ByteBuffer buffer = ByteBuffer.allocate(HEADER_BYTES + nameBytes.length + attributeBytes.length)
                .order(ByteOrder.LITTLE_ENDIAN);
        buffer.putLong(MAGIC, MAGIC_VALUE);
        buffer.putInt(VERSION, NEWEST_VERSION);
        buffer.putInt(VERSION_CRC, crc(buffer, MAGIC, VERSION_CRC));
        buffer.putShort(NAME_BYTES, (short) nameBytes.length);
        buffer.putShort(ATTRIBUTES_BYTES, (short) attributeBytes.length);
        // The bytes of an identity are in the order of its text form.
        buffer.putLong(STORE, Long.reverseBytes(store.getMostSignificantBits()));
        buffer.putLong(STORE + Long.BYTES, Long.reverseBytes(store.getLeastSignificantBits()));
        buffer.putLong(INCARNATION, incarnation);
        buffer.putLong(GENERATION, generation);
        buffer.putLong(EPOCH, epoch);
        buffer.putLong(FIRST_SEQUENCE, firstSequence);
        buffer.putLong(NEXT_SEQUENCE, nextSequence);
        buffer.putLong(TAKEN_AT, takenAtMillis);
        buffer.put(HEADER_BYTES, nameBytes).put(HEADER_BYTES + nameBytes.length, attributeBytes);
        buffer.putInt(HEADER_CRC, crc(buffer, NAME_BYTES, buffer.limit()));
        return buffer.array();
    }

    /** Reads a header; throws an {@link ArchiveException}, {@code CORRUPT} or {@code VERSION}, if it is invalid. */
    static SnapshotHeader read(SnapshotInput in) {
        ByteBuffer fixed = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        in.read(fixed.array(), 0, HEADER_CRC);
        checkVersion(in, fixed);
        in.read(fixed.array(), HEADER_CRC, HEADER_BYTES - HEADER_CRC);
        int nameBytes = Short.toUnsignedInt(fixed.getShort(NAME_BYTES));
        int attributeBytes = Short.toUnsignedInt(fixed.getShort(ATTRIBUTES_BYTES));
        check(in, nameBytes >= 1 && nameBytes <= DocumentName.MAX_BYTES, "a name of " + nameBytes + " bytes");
        check(in, attributeBytes <= Attributes.MAX_BYTES, "attributes of " + attributeBytes + " bytes");
        int nameEnd = HEADER_BYTES + nameBytes;
        byte[] whole = Arrays.copyOf(fixed.array(), nameEnd + attributeBytes);
        in.read(whole, HEADER_BYTES, nameBytes + attributeBytes);
        ByteBuffer buffer = ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN);
        check(in, buffer.getInt(HEADER_CRC) == crc(buffer, NAME_BYTES, whole.length), "its checksum is wrong");
        try {
            return new SnapshotHeader(
                    new UUID(
                            Long.reverseBytes(buffer.getLong(STORE)),
                            Long.reverseBytes(buffer.getLong(STORE + Long.BYTES))),
                    DocumentName.of(Arrays.copyOfRange(whole, HEADER_BYTES, nameEnd)),
                    buffer.getLong(INCARNATION),
                    buffer.getLong(GENERATION),
                    buffer.getLong(EPOCH),
                    buffer.getLong(FIRST_SEQUENCE),
                    buffer.getLong(NEXT_SEQUENCE),
                    buffer.getLong(TAKEN_AT),
                    Attributes.decode(Arrays.copyOfRange(whole, nameEnd, whole.length)));
        } catch (IllegalArgumentException invalid) {
            throw wrong(in, invalid.getMessage());
        }
    }

    private static void checkVersion(SnapshotInput in, ByteBuffer fixed) {
        if (fixed.getLong(MAGIC) != MAGIC_VALUE) {
            throw in.corrupt("it does not start with the magic number of a snapshot");
        }
        check(in, fixed.getInt(VERSION_CRC) == crc(fixed, MAGIC, VERSION_CRC), "its version's checksum is wrong");
        int version = fixed.getInt(VERSION);
        if (version < OLDEST_VERSION || version > NEWEST_VERSION) {
            throw ArchiveException.version(in.object(), version, OLDEST_VERSION, NEWEST_VERSION);
        }
    }

    private static int crc(ByteBuffer buffer, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(buffer.array(), from, to - from);
        return (int) crc.getValue();
    }

    private static void check(SnapshotInput in, boolean holds, String otherwise) {
        if (!holds) {
            throw wrong(in, otherwise);
        }
    }

    private static ArchiveException wrong(SnapshotInput in, @Nullable String problem) {
        return in.corrupt("its header is wrong: " + problem);
    }
}
