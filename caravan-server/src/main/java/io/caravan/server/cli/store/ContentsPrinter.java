package io.caravan.server.cli.store;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.CatalogEntry;
import io.caravan.inspect.ValueLocation;
import io.caravan.server.cli.common.Output;
import io.caravan.server.document.DocumentAttributes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Prints checkpoints, lists, and documents in addition to log records. */
final class ContentsPrinter extends StorePrinter {
    private boolean moved;
    /** The document whose entry is printed before the next list, or null. */
    private @Nullable CatalogEntry announced;

    ContentsPrinter(Output output, boolean withValues) {
        super(output, withValues);
    }

    @Override
    public void checkpoint(long number, String file, long startLsn, long endLsn, long lists, long entries) {
        print("checkpoint", json -> {
            json.writeNumberField("checkpoint", number);
            json.writeStringField("file", fileName(file));
            json.writeNumberField("startLsn", startLsn);
            json.writeNumberField("endLsn", endLsn);
            json.writeNumberField("lists", lists);
            json.writeNumberField("entries", entries);
        });
    }

    @Override
    public void list(long id, long first, long next, long count, long bytes) {
        if (announced != null) {
            document(announced);
            announced = null;
        }
        print("list", json -> {
            list(json, id);
            json.writeNumberField("first", first);
            json.writeNumberField("next", next);
            json.writeNumberField("count", count);
            json.writeNumberField("bytes", bytes);
        });
    }

    @Override
    public void entry(long id, long sequence, ValueLocation place) {
        print("entry", json -> entry(json, id, sequence, place));
    }

    @Override
    public void value(long id, long sequence, ValueLocation place, ByteBuffer value) {
        print("value", json -> {
            entry(json, id, sequence, place);
            value(json, value);
        });
    }

    private void entry(JsonGenerator json, long id, long sequence, ValueLocation place) throws IOException {
        list(json, id);
        json.writeNumberField("sequence", sequence);
        json.writeNumberField("bytes", place.length());
        json.writeStringField("in", place.inLog() ? "log" : "heap");
        json.writeStringField("file", place.file());
        json.writeNumberField("offset", place.offset());
    }

    @Override
    public void moved(long id, long sequence) {
        moved = true;
    }

    @Override
    public void missed(long from, long to) {
        moved = true;
        super.missed(from, to);
    }

    /** Prints a document's catalog entry immediately before the document's list, if the list is found. */
    void announce(CatalogEntry entry) {
        announced = entry;
    }

    void document(CatalogEntry entry) {
        print("document", json -> {
            json.writeNumberField("list", entry.id());
            name(json, entry.name());
            json.writeNumberField(
                    "base", DocumentAttributes.of(entry.attributes()).base());
            attributes(json, entry.attributes());
        });
    }

    /**
     * Writes attributes as text, or in Base64 if they are not valid UTF-8. A value of eight bytes that starts with a
     * zero byte is written as a number.
     */
    private static void attributes(JsonGenerator json, Attributes attributes) throws IOException {
        json.writeObjectFieldStart("attributes");
        for (Map.Entry<String, byte[]> attribute : attributes.asMap().entrySet()) {
            byte[] value = attribute.getValue();
            if (value.length == Long.BYTES && value[0] == 0) {
                json.writeNumberField(attribute.getKey(), ByteBuffer.wrap(value).getLong());
            } else {
                Output.textOrBase64(json, attribute.getKey(), attribute.getKey() + "Base64", value);
            }
        }
        json.writeEndObject();
    }

    void logEnd(long lsn, boolean torn) {
        print("logEnd", json -> {
            json.writeNumberField("lsn", lsn);
            json.writeBooleanField("torn", torn);
        });
    }

    /** Prints the last line, which states the number of faults and whether data was moved during the dump. */
    void end() {
        print("end", json -> {
            json.writeNumberField("damage", faults());
            json.writeBooleanField("moved", moved);
        });
    }
}
