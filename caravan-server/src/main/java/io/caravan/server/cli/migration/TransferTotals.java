package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.zip.CRC32C;

/** The totals of several documents. Not thread-safe. */
final class TransferTotals {
    private final CRC32C crc = new CRC32C();
    private long documents;
    private long values;
    private long bytes;

    void add(DocumentChecksum sum) {
        documents++;
        values += sum.count();
        bytes += sum.bytes();
        crc.update(sum.crc32c().getBytes(US_ASCII));
    }

    long documents() {
        return documents;
    }

    long values() {
        return values;
    }

    long bytes() {
        return bytes;
    }

    /** Returns a checksum of the checksums of the documents, in their order. */
    String crc32c() {
        return DocumentChecksum.hex(crc);
    }

    void write(JsonGenerator json) throws IOException {
        json.writeNumberField("documents", documents);
        json.writeNumberField("values", values);
        json.writeNumberField("bytes", bytes);
    }
}
