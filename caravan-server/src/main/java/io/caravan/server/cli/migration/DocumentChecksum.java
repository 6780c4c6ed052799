package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.caravan.server.cli.client.DocumentClient.Description;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/** Counts a document's values, and computes a checksum of them, to compare two copies. Not thread-safe. */
final class DocumentChecksum {
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
    private final boolean bounded;
    private long count;
    private long bytes;

    /**
     * Starts a checksum over values.
     *
     * @param bounded whether the boundaries between the values count; otherwise, only the concatenation of the values
     *     counts
     */
    DocumentChecksum(boolean bounded) {
        this.bounded = bounded;
    }

    /** Starts a checksum over a document in an export, including the document's name, sequences, and attributes. */
    DocumentChecksum(byte[] name, Description document) {
        this(true);
        add(name);
        add(document.first());
        add(document.next());
        for (Map.Entry<String, Object> attribute : new TreeMap<>(document.attributes()).entrySet()) {
            add(attribute.getKey().getBytes(US_ASCII));
            add(Description.encoded(attribute.getValue()));
        }
    }

    void value(byte[] value) {
        add(value);
        count++;
        bytes += value.length;
    }

    private void add(byte[] part) {
        if (bounded) {
            add(part.length);
        }
        crc.update(part);
    }

    private void add(long part) {
        crc.update(number.clear().putLong(part).flip());
    }

    boolean isBounded() {
        return bounded;
    }

    long count() {
        return count;
    }

    long bytes() {
        return bytes;
    }

    /** Whether both checksums cover the same content. They must have been started in the same way. */
    boolean isSame(DocumentChecksum other) {
        return bytes == other.bytes && crc.getValue() == other.crc.getValue() && (!bounded || count == other.count);
    }

    /** Returns the checksum, in eight hexadecimal digits. */
    String crc32c() {
        return hex(crc);
    }

    static String hex(CRC32C crc) {
        return String.format(Locale.ROOT, "%08x", crc.getValue());
    }
}
