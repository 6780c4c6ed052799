package io.caravan.server.cli.store;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.CorruptStoreException;
import io.caravan.catalog.CatalogEntry;
import io.caravan.catalog.DocumentName;
import io.caravan.format.EntryLayout;
import io.caravan.inspect.ContentsReader;
import io.caravan.inspect.StoreVisitor;
import io.caravan.inspect.ValueLocation;
import io.caravan.server.cli.common.Output;
import io.caravan.server.document.DocumentService;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Prints the contents of a store's files, one object per line. Throws {@link java.io.UncheckedIOException} if the
 * output fails.
 */
class StorePrinter implements StoreVisitor {
    private static final long NAMES_BYTES = 16 << 20;

    private final Output output;
    private final boolean withValues;
    private final DocumentNames names = new DocumentNames(NAMES_BYTES);
    private volatile long lines;
    private long faults;

    StorePrinter(Output output, boolean withValues) {
        this.output = output;
        this.withValues = withValues;
    }

    /** Returns the number of printed lines; callable from any thread. */
    long lines() {
        return lines;
    }

    /** Returns the number of faults reported. */
    long faults() {
        return faults;
    }

    DocumentNames names() {
        return names;
    }

    /** Prints an object whose first field is its type. */
    final void print(String type, Output.Fields fields) {
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
    final void list(JsonGenerator json, long id) throws IOException {
        json.writeNumberField("list", id);
        DocumentName name = names.of(id);
        if (name != null) {
            name(json, name);
        }
    }

    static void name(JsonGenerator json, DocumentName name) throws IOException {
        Output.textOrBase64(json, "name", "nameBase64", name.toBytes());
    }

    static void value(JsonGenerator json, ByteBuffer value) throws IOException {
        byte[] bytes = new byte[value.remaining()];
        value.get(value.position(), bytes);
        Output.textOrBase64(json, "value", "valueBase64", bytes);
    }

    @Override
    public void missed(long from, long to) {
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

    static String fileName(String path) {
        Path name = Path.of(path).getFileName();
        return name == null ? path : name.toString();
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
}
