package io.caravan.server.cli.migration;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.common.Output;
import io.caravan.server.document.PortableAttributes;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Writes documents as lines of JSON in the format of docs/internals/file-format.md. Not thread-safe. */
final class ExportWriter implements DocumentReceiver {
    static final String FORMAT = "caravan-export";
    static final int VERSION = 1;

    private final OutputStream out;
    private final Output lines;
    private final TransferTotals totals = new TransferTotals(why -> {});
    private @Nullable Set<DocumentName> names;
    private byte[] name = {};
    private @Nullable DocumentChecksum sum;

    ExportWriter(OutputStream out) throws IOException {
        this.out = out;
        this.lines = new Output(out, true);
        lines.object(Output.fields("type", "export", "format", FORMAT, "version", VERSION));
    }

    @Override
    public void begin(byte[] begun, Description document) throws IOException {
        name = begun;
        sum = new DocumentChecksum(begun, document);
        lines.object(Output.fields(
                "type",
                "document",
                Output.textOrBase64("name", "nameBase64", begun),
                "first",
                document.first(),
                "next",
                document.next(),
                "attributes",
                PortableAttributes.asJson(document.attributes())));
    }

    @Override
    public void value(long sequence, byte[] value) throws IOException {
        Objects.requireNonNull(sum).value(value);
        Map<String, ?> text = Output.textOrBase64("value", "valueBase64", value);
        lines.object(Output.fields("type", "value", "sequence", sequence, text));
    }

    @Override
    public void end() throws IOException {
        DocumentChecksum whole = Objects.requireNonNull(sum);
        totals.add(whole);
        if (names != null) {
            names.add(DocumentName.of(name));
        }
        lines.object(Output.fields(
                "type", "documentEnd", "count", whole.count(), "bytes", whole.bytes(), "crc32c", whole.crc32c()));
    }

    @Override
    public void abandon() throws IOException {
        lines.object(Map.of("type", "void"));
    }

    /** Starts to add the names of complete documents to a set, or stops if the set is null. */
    void recordNames(@Nullable Set<DocumentName> to) {
        names = to;
    }

    TransferTotals totals() {
        return totals;
    }

    void flush() throws IOException {
        lines.flush();
        out.flush();
    }

    /** Writes and flushes the last line. A file without this line counts as truncated. */
    void finish() throws IOException {
        lines.object(Output.fields("type", "end", totals.fields(), "crc32c", totals.crc32c()));
        flush();
    }
}
