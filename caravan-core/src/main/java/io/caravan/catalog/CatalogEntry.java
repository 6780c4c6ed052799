package io.caravan.catalog;

import static io.caravan.catalog.Attributes.check;

import io.caravan.CorruptStoreException;
import io.caravan.StoreVersionException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the catalog's list: the state of one document from this entry on. Little-endian.
 *
 * <pre>
 *   0         1         2                   4
 *   +---------+---------+-------------------+---------------------------------------+
 *   | version | kind    | name bytes n      | document id                           |
 *   +---------+---------+-------------------+---------------------------------------+
 *  12                                      20                  20+n
 *   +---------------------------------------+-------------------+-------------------+
 *   | next id                               | name              | attributes        |
 *   +---------------------------------------+-------------------+-------------------+
 * </pre>
 *
 * <p>{@code kind} is 1 for a document that has no list yet, 2 for a document that has a list, and 3 for a removal.
 * {@code next id} is above every id ever assigned, so the newest entry alone determines the next id. The attributes are
 * encoded as described in {@link Attributes}, and take up the remaining bytes of the entry. The store's checksum covers
 * the entire entry.
 *
 * <p>An entry is valid if the following conditions hold, which are checked in this order: (1) this release reads the
 * version; (2) the header is complete and the name lies within the entry; (3) the kind is known; (4) the name is 1 to
 * 1,024 bytes long; (5) the id is above 0 and below the next id; (6) the attributes are valid.
 *
 * @param kind the change that the entry describes
 * @param id the document's id, which is also that of its list
 * @param nextId the lowest id that has never been assigned
 */
public record CatalogEntry(Kind kind, long id, long nextId, DocumentName name, Attributes attributes) {
    static final int VERSION = 0;
    static final int KIND = VERSION + Byte.BYTES;
    static final int NAME_BYTES = KIND + Byte.BYTES;
    static final int ID = NAME_BYTES + Short.BYTES;
    static final int NEXT_ID = ID + Long.BYTES;
    static final int NAME = NEXT_ID + Long.BYTES;

    static final int OLDEST_VERSION = 1;
    static final int NEWEST_VERSION = 1;

    /** The kind of an entry; the ordinal is the code on disk. */
    public enum Kind {
        NONE,
        /** The document exists and has no list. */
        WITHOUT_LIST,
        /** The document exists as long as its list does. */
        WITH_LIST,
        /** The document, which had no list, was removed. */
        REMOVED;

        private static final Kind[] BY_CODE = values();

        static Kind of(boolean listed) {
            return listed ? WITH_LIST : WITHOUT_LIST;
        }
    }

    byte[] encode() {
        byte[] bytes = name.bytes();
        byte[] rest = attributes.encoded();
        return ByteBuffer.allocate(NAME + bytes.length + rest.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) NEWEST_VERSION)
                .put((byte) kind.ordinal())
                .putShort((short) bytes.length)
                .putLong(id)
                .putLong(nextId)
                .put(bytes)
                .put(rest)
                .array();
    }

    /**
     * Reads and checks an entry.
     *
     * @param listId the catalog's list, for messages
     * @param sequence the entry's sequence, for messages
     */
    static CatalogEntry decode(ByteBuffer value, long listId, long sequence) {
        try {
            return decode(value);
        } catch (IllegalArgumentException invalid) {
            throw new CorruptStoreException("catalog", 0, listId, sequence, String.valueOf(invalid.getMessage()));
        }
    }

    /**
     * Decodes a value of a list that may be a catalog. Returns null if this release cannot read the value as an entry.
     */
    public static @Nullable CatalogEntry decodeIfValid(ByteBuffer value) {
        try {
            return decode(value);
        } catch (IllegalArgumentException | StoreVersionException other) {
            return null;
        }
    }

    private static CatalogEntry decode(ByteBuffer value) {
        ByteBuffer buffer = value.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        check(buffer.limit() > VERSION, "the entry is empty");
        int version = buffer.get(VERSION);
        if (version < OLDEST_VERSION || version > NEWEST_VERSION) {
            throw new StoreVersionException("the catalog", version, OLDEST_VERSION, NEWEST_VERSION);
        }
        check(buffer.limit() >= NAME, "the header is cut off");
        int nameBytes = buffer.getShort(NAME_BYTES) & 0xFFFF;
        check(NAME + nameBytes <= buffer.limit(), "the name is cut off");
        int kind = buffer.get(KIND);
        check(kind > Kind.NONE.ordinal() && kind < Kind.BY_CODE.length, "unknown kind " + kind);
        check(nameBytes >= 1 && nameBytes <= DocumentName.MAX_BYTES, "a name of " + nameBytes + " bytes");
        long id = buffer.getLong(ID);
        long nextId = buffer.getLong(NEXT_ID);
        check(id > 0 && id < nextId, "id " + id + " with next id " + nextId);
        int attributesAt = NAME + nameBytes;
        Attributes.checkSize(buffer.limit() - attributesAt);
        Attributes attributes = Attributes.decode(bytes(buffer, attributesAt, buffer.limit()));
        DocumentName name = DocumentName.of(bytes(buffer, NAME, attributesAt));
        return new CatalogEntry(Kind.BY_CODE[kind], id, nextId, name, attributes);
    }

    private static byte[] bytes(ByteBuffer buffer, int from, int to) {
        byte[] bytes = new byte[to - from];
        buffer.get(from, bytes);
        return bytes;
    }
}
