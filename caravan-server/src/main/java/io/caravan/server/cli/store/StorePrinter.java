package io.caravan.server.cli.store;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.CorruptStoreException;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.CatalogEntry;
import io.caravan.catalog.DocumentName;
import io.caravan.format.EntryLayout;
import io.caravan.inspect.ContentsReader;
import io.caravan.inspect.StoreVisitor;
import io.caravan.inspect.ValueLocation;
import io.caravan.server.cli.common.Output;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentService;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * Prints the contents of a store's files, one object per line. Throws {@link java.io.UncheckedIOException} if the
 * output fails.
 */
final class StorePrinter implements StoreVisitor {
    private static final long NAMES_BYTES = 16 << 20;

    private final Output output;
    private final boolean withValues;
    private final DocumentNames names = new DocumentNames(NAMES_BYTES);
    private volatile long lines;
    private long faults;
    private boolean moved;
    /** The document whose entry is printed before the next list, or null. */
    private @Nullable CatalogEntry announced;

    StorePrinter(Output output, boolean withValues) {
        this.output = output;
        this.withValues = withValues;
    }

    /** Returns the number of printed lines; callable from any thread. */
    long lines() {
        return lines;
    }

    int exitCode() {
        return faults == 0 ? CommandLine.ExitCode.OK : StoreCommand.DAMAGED;
    }

    DocumentNames names() {
        return names;
    }

    /** Prints an object whose first field is its type. */
    private void print(String type, Output.Fields fields) {
        Output.unchecked(() -> output.object(json -> {
            json.writeStringField("type", type);
            fields.write(json);
        }));
        lines = lines + 1;
    }

    @Override
    public void segment(long number, String file) {
        print("segment", json -> {
            json.writeNumberField("segment", number);
            json.writeStringField("file", fileName(file));
        });
    }

    @Override
    public void ahead(long id, ByteBuffer value) {
        CatalogEntry entry = id == DocumentService.CATALOG_LIST_ID ? CatalogEntry.decodeIfValid(value) : null;
        if (entry != null) {
            names.learn(entry);
        }
    }

    @Override
    public void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int entryAt, int length) {
        record("append", lsn, id, json -> {
            json.writeNumberField("sequence", sequence);
            json.writeNumberField("bytes", length);
            if (withValues) {
                value(json, buffer.slice(entryAt + EntryLayout.VALUE, length));
            }
        });
    }

    @Override
    public void trim(long lsn, long id, long firstSequence) {
        record("trim", lsn, id, json -> json.writeNumberField("first", firstSequence));
    }

    @Override
    public void delete(long lsn, long id) {
        record("delete", lsn, id, json -> {});
    }

    private void record(String type, long lsn, long id, Output.Fields fields) {
        print(type, json -> {
            json.writeNumberField("lsn", lsn);
            list(json, id);
            fields.write(json);
        });
    }

    /** Writes the number of a list, and the name of its document if known. */
    private void list(JsonGenerator json, long id) throws IOException {
        json.writeNumberField("list", id);
        DocumentName name = names.of(id);
        if (name != null) {
            name(json, name);
        }
    }

    private static void name(JsonGenerator json, DocumentName name) throws IOException {
        Output.textOrBase64(json, "name", "nameBase64", name.toBytes());
    }

    private static void value(JsonGenerator json, ByteBuffer value) throws IOException {
        byte[] bytes = new byte[value.remaining()];
        value.get(value.position(), bytes);
        Output.textOrBase64(json, "value", "valueBase64", bytes);
    }

    @Override
    public void missed(long from, long to) {
        moved = true;
        print("missed", json -> {
            json.writeNumberField("from", from);
            json.writeNumberField("to", to);
        });
    }

    @Override
    public void damaged(CorruptStoreException damage) {
        faults++;
        print("damage", json -> {
            json.writeStringField("error", damage.getMessage());
            json.writeStringField("file", fileName(damage.file()));
            json.writeNumberField("offset", damage.offset());
        });
    }

    private static String fileName(String path) {
        Path name = Path.of(path).getFileName();
        return name == null ? path : name.toString();
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
            json.writeNumberField("damage", faults);
            json.writeBooleanField("moved", moved);
        });
    }

    /** Reads the document names, and the entry of the requested document, from a store's catalog, if there is one. */
    static final class CatalogVisitor implements StoreVisitor {
        private final StorePrinter printer;
        private final @Nullable DocumentName name;
        private boolean there;
        private @Nullable CatalogEntry wanted;

        /**
         * Creates a visitor.
         *
         * @param printer receives the names, and reports damage
         * @param name the requested document, or null
         */
        CatalogVisitor(StorePrinter printer, @Nullable DocumentName name) {
            this.printer = printer;
            this.name = name;
        }

        void read(ContentsReader contents) throws IOException {
            contents.readList(DocumentService.CATALOG_LIST_ID, this);
        }

        /** Whether the store has a catalog. */
        boolean isThere() {
            return there;
        }

        /** Returns the newest entry of the requested document, or null if it does not exist. */
        @Nullable
        CatalogEntry wanted() {
            return wanted;
        }

        @Override
        public void value(long id, long sequence, ValueLocation place, ByteBuffer value) {
            CatalogEntry entry = CatalogEntry.decodeIfValid(value);
            if (entry == null) {
                return;
            }
            there = true;
            printer.names().learn(entry);
            if (name != null && name.equals(entry.name())) {
                wanted = entry.kind() == CatalogEntry.Kind.REMOVED ? null : entry;
            }
        }

        @Override
        public void damaged(CorruptStoreException damage) {
            printer.damaged(damage);
        }
    }

    /**
     * A cache of document names by list id. It collects names from entries of a catalog's list, read in any order, and
     * keeps the most recently used names in bounded memory. Not thread-safe.
     */
    static final class DocumentNames {
        /** Approximate memory, in bytes, that a cached name takes in addition to its own bytes. */
        private static final int BESIDE_BYTES = 200;

        private final long maxBytes;
        private final Map<Long, DocumentName> names = new LinkedHashMap<>(16, 0.75f, true);
        private long bytes;

        /** Creates a cache with an approximate limit on its memory. */
        DocumentNames(long maxBytes) {
            this.maxBytes = maxBytes;
        }

        void learn(CatalogEntry entry) {
            if (names.put(entry.id(), entry.name()) == null) {
                bytes += size(entry.name());
            }
            var oldest = names.entrySet().iterator();
            while (bytes > maxBytes && oldest.hasNext()) {
                bytes -= size(oldest.next().getValue());
                oldest.remove();
            }
        }

        private static long size(DocumentName name) {
            return name.toBytes().length + BESIDE_BYTES;
        }

        /** Returns the name of the document that owns this list, or null if the name is unknown. */
        @Nullable
        DocumentName of(long id) {
            return names.get(id);
        }
    }
}
