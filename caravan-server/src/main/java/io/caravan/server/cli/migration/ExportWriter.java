package io.caravan.server.cli.migration;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;

/** Writes documents as lines of JSON in the format of docs/internals/file-format.md. Not thread-safe. */
final class ExportWriter implements DocumentReceiver {
    static final String FORMAT = "caravan-export";
    static final int VERSION = 1;

    private final OutputStream out;
    private final Output lines;
    private final TransferTotals totals = new TransferTotals();

    /** Creates a writer, and writes the first line. */
    ExportWriter(OutputStream out) throws IOException {
        this.out = out;
        this.lines = new Output(out);
        line("export", json -> {
            json.writeStringField("format", FORMAT);
            json.writeNumberField("version", VERSION);
        });
    }

    private void line(String type, Output.Fields fields) throws IOException {
        lines.object(json -> {
            json.writeStringField("type", type);
            fields.write(json);
        });
    }

    @Override
    public void begin(byte[] name, Description document) throws IOException {
        line("document", json -> {
            Output.textOrBase64(json, "name", "nameBase64", name);
            json.writeNumberField("first", document.first());
            json.writeNumberField("next", document.next());
            json.writeObjectFieldStart("attributes");
            for (Map.Entry<String, Object> attribute : document.attributes().entrySet()) {
                attribute(json, attribute.getKey(), attribute.getValue());
            }
            json.writeEndObject();
        });
    }

    private static void attribute(JsonGenerator json, String name, Object value) throws IOException {
        if (value instanceof Long number) {
            json.writeNumberField(name, number);
        } else {
            Output.textOrBase64(json, name, name + ExportReader.BASE64, (byte[]) value);
        }
    }

    @Override
    public void value(long sequence, byte[] value) throws IOException {
        line("value", json -> {
            json.writeNumberField("sequence", sequence);
            Output.textOrBase64(json, "value", "valueBase64", value);
        });
    }

    @Override
    public void end(DocumentChecksum sum) throws IOException {
        totals.add(sum);
        line("documentEnd", json -> {
            json.writeNumberField("count", sum.count());
            json.writeNumberField("bytes", sum.bytes());
            json.writeStringField("crc32c", sum.crc32c());
        });
    }

    @Override
    public void abandon() throws IOException {
        line("void", json -> {});
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
        line("end", json -> {
            totals.write(json);
            json.writeStringField("crc32c", totals.crc32c());
        });
        flush();
    }
}
