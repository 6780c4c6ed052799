package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.Resp;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.CRC32C;
import java.util.zip.CheckedOutputStream;
import java.util.zip.Checksum;

/** Writes documents in the format of docs/internals/file-format.md. Not thread-safe. */
final class ExportWriter implements DocumentReceiver {
    static final String FORMAT = "caravan-export";
    static final String VERSION = "1";
    static final String DOCUMENT = "document";
    static final String VALUE = "value";
    static final String DOCUMENT_END = "documentEnd";
    static final String VOID = "void";
    static final String END = "end";

    private final Checksum crc = new CRC32C();
    private final OutputStream out;
    private final TransferTotals totals = new TransferTotals(why -> {});
    private DocumentChecksum sum = new DocumentChecksum(true);

    ExportWriter(OutputStream out) throws IOException {
        this.out = new CheckedOutputStream(out, crc);
        write(FORMAT, VERSION);
    }

    private void write(Object... words) throws IOException {
        Resp.write(out, List.of(words));
    }

    /** Formats a checksum in eight hexadecimal digits. */
    static String hex(long crc) {
        return String.format(Locale.ROOT, "%08x", crc);
    }

    @Override
    public void begin(byte[] name, Description document) throws IOException {
        sum = new DocumentChecksum(true);
        List<Object> attributes = new ArrayList<>();
        document.attributes().forEach((key, value) -> attributes.addAll(List.of(key.getBytes(US_ASCII), value)));
        write(DOCUMENT, name, document.first(), document.next(), attributes);
    }

    @Override
    public void value(byte[] value) throws IOException {
        sum.value(value);
        write(VALUE, value);
    }

    @Override
    public void end() throws IOException {
        totals.add(sum);
        write(DOCUMENT_END, hex(crc.getValue()));
    }

    @Override
    public void abandon() throws IOException {
        write(VOID);
    }

    TransferTotals totals() {
        return totals;
    }

    /** Writes the last record, and flushes the output. An export without this record counts as truncated. */
    void finish() throws IOException {
        write(END, hex(crc.getValue()));
        out.flush();
    }
}
