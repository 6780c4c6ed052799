package io.caravan.server.archive.format;

import static io.caravan.server.archive.format.SnapshotLayout.ATTRIBUTES_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.EPOCH;
import static io.caravan.server.archive.format.SnapshotLayout.FIRST_SEQUENCE;
import static io.caravan.server.archive.format.SnapshotLayout.GENERATION;
import static io.caravan.server.archive.format.SnapshotLayout.HEADER_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.HEADER_CRC;
import static io.caravan.server.archive.format.SnapshotLayout.INCARNATION;
import static io.caravan.server.archive.format.SnapshotLayout.MAGIC;
import static io.caravan.server.archive.format.SnapshotLayout.MAGIC_VALUE;
import static io.caravan.server.archive.format.SnapshotLayout.NAME_BYTES;
import static io.caravan.server.archive.format.SnapshotLayout.NEWEST_VERSION;
import static io.caravan.server.archive.format.SnapshotLayout.NEXT_SEQUENCE;
import static io.caravan.server.archive.format.SnapshotLayout.OLDEST_VERSION;
import static io.caravan.server.archive.format.SnapshotLayout.STORE;
import static io.caravan.server.archive.format.SnapshotLayout.TAKEN_AT;
import static io.caravan.server.archive.format.SnapshotLayout.VERSION;
import static io.caravan.server.archive.format.SnapshotLayout.VERSION_CRC;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot's header as bytes. It is valid when, in this order: (1) the magic is right; (2) so is the CRC of magic and
 * version; (3) the version is one that this release reads; (4) the lengths of name and attributes are within their
 * limits; (5) the header's CRC is right; (6) the attributes are valid, no number but the incarnation is below 0, the
 * generation is at least 1 and the first sequence not above the next.
 */
final class SnapshotHeaderCodec {

    private SnapshotHeaderCodec() {}

    /**
     * Writes a header.
     *
     * @throws IllegalArgumentException when condition 6 does not hold
     */
    static byte[] encode(SnapshotHeader header) {
        String problem = problem(header);
        if (problem != null) {
            throw new IllegalArgumentException("no snapshot can be of " + problem);
        }
        byte[] name = header.name().toBytes();
        byte[] attributes = header.attributes().encoded();
        ByteBuffer buffer = ByteBuffer.allocate(HEADER_BYTES + name.length + attributes.length)
                .order(ByteOrder.LITTLE_ENDIAN);
        buffer.putLong(MAGIC, MAGIC_VALUE);
        buffer.putInt(VERSION, NEWEST_VERSION);
        buffer.putInt(VERSION_CRC, crc(buffer, MAGIC, VERSION_CRC));
        buffer.putShort(NAME_BYTES, (short) name.length);
        buffer.putShort(ATTRIBUTES_BYTES, (short) attributes.length);
        putStore(buffer, header.store());
        buffer.putLong(INCARNATION, header.incarnation());
        buffer.putLong(GENERATION, header.generation());
        buffer.putLong(EPOCH, header.epoch());
        buffer.putLong(FIRST_SEQUENCE, header.firstSequence());
        buffer.putLong(NEXT_SEQUENCE, header.nextSequence());
        buffer.putLong(TAKEN_AT, header.takenAtMillis());
        buffer.put(HEADER_BYTES, name).put(HEADER_BYTES + name.length, attributes);
        buffer.putInt(HEADER_CRC, crc(buffer, NAME_BYTES, buffer.limit()));
        return buffer.array();
    }

    /** An identity's bytes are in the order in which it is written. */
    private static void putStore(ByteBuffer buffer, UUID store) {
        buffer.putLong(STORE, Long.reverseBytes(store.getMostSignificantBits()));
        buffer.putLong(STORE + Long.BYTES, Long.reverseBytes(store.getLeastSignificantBits()));
    }

    private static UUID store(ByteBuffer buffer) {
        return new UUID(
                Long.reverseBytes(buffer.getLong(STORE)), Long.reverseBytes(buffer.getLong(STORE + Long.BYTES)));
    }

    private static int crc(ByteBuffer buffer, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(buffer.array(), from, to - from);
        return (int) crc.getValue();
    }

    /**
     * Reads a header and checks all of it.
     *
     * @throws ArchiveException {@code CORRUPT} or {@code VERSION}
     */
    static SnapshotHeader read(SnapshotInput in) {
        ByteBuffer buffer = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        in.read(buffer.array(), 0, HEADER_CRC);
        checkVersion(in, buffer);
        in.read(buffer.array(), HEADER_CRC, HEADER_BYTES - HEADER_CRC);
        int nameBytes = buffer.getShort(NAME_BYTES) & 0xFFFF;
        int attributesBytes = buffer.getShort(ATTRIBUTES_BYTES) & 0xFFFF;
        check(in, nameBytes >= 1 && nameBytes <= DocumentName.MAX_BYTES, "a name of " + nameBytes + " bytes");
        check(in, attributesBytes <= Attributes.MAX_BYTES, "attributes of " + attributesBytes + " bytes");
        int nameEnd = HEADER_BYTES + nameBytes;
        byte[] whole = Arrays.copyOf(buffer.array(), nameEnd + attributesBytes);
        in.read(whole, HEADER_BYTES, nameBytes + attributesBytes);
        ByteBuffer header = ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN);
        check(in, header.getInt(HEADER_CRC) == crc(header, NAME_BYTES, whole.length), "its checksum is wrong");
        DocumentName name = DocumentName.of(Arrays.copyOfRange(whole, HEADER_BYTES, nameEnd));
        return decode(in, header, name, Arrays.copyOfRange(whole, nameEnd, whole.length));
    }

    private static void checkVersion(SnapshotInput in, ByteBuffer buffer) {
        if (buffer.getLong(MAGIC) != MAGIC_VALUE) {
            throw in.corrupt("it does not start as a snapshot does");
        }
        check(in, buffer.getInt(VERSION_CRC) == crc(buffer, MAGIC, VERSION_CRC), "its version's checksum is wrong");
        int version = buffer.getInt(VERSION);
        if (version < OLDEST_VERSION || version > NEWEST_VERSION) {
            throw ArchiveException.version(in.object(), version, OLDEST_VERSION, NEWEST_VERSION);
        }
    }

    private static SnapshotHeader decode(SnapshotInput in, ByteBuffer buffer, DocumentName name, byte[] attributes) {
        SnapshotHeader header = new SnapshotHeader(
                store(buffer),
                name,
                buffer.getLong(INCARNATION),
                buffer.getLong(GENERATION),
                buffer.getLong(EPOCH),
                buffer.getLong(FIRST_SEQUENCE),
                buffer.getLong(NEXT_SEQUENCE),
                buffer.getLong(TAKEN_AT),
                attributes(in, attributes));
        String problem = problem(header);
        if (problem != null) {
            throw wrong(in, problem);
        }
        return header;
    }

    private static Attributes attributes(SnapshotInput in, byte[] encoded) {
        try {
            return Attributes.decode(encoded);
        } catch (IllegalArgumentException invalid) {
            throw wrong(in, invalid.getMessage());
        }
    }

    /** What no snapshot can be, or null when all is well. */
    private static @Nullable String problem(SnapshotHeader header) {
        if (header.generation() < 1) {
            return "generation " + header.generation();
        }
        if (header.epoch() < 0) {
            return "epoch " + header.epoch();
        }
        if (header.firstSequence() < 0 || header.firstSequence() > header.nextSequence()) {
            return "sequences from " + header.firstSequence() + " to before " + header.nextSequence();
        }
        return header.takenAtMillis() < 0 ? "taken at " + header.takenAtMillis() : null;
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
