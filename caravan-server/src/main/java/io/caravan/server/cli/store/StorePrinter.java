package io.caravan.server.cli.store;

import io.caravan.CorruptStoreException;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.CatalogEntry;
import io.caravan.catalog.DocumentName;
import io.caravan.format.EntryLayout;
import io.caravan.inspect.ContentsReader;
import io.caravan.inspect.LogReader;
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

/** Prints the contents of a store's files, one object per line; throws {@link java.io.UncheckedIOException}. */
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
    private void print(String type, Map<String, ?> fields) {
        Output.unchecked(() -> output.object(Output.fields("type", type, fields)));
        lines = lines + 1;
    }

    /** Prints the rest of a log. */
    void log(LogReader reader) throws IOException {
        boolean more = true;
        while (more) {
            more = reader.next(this);
        }
    }

    @Override
    public void segment(long number, String file) {
        print("segment", Output.fields("segment", number, "file", fileName(file)));
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
        Map<String, ?> value = withValues ? value(buffer.slice(entryAt + EntryLayout.VALUE, length)) : Map.of();
        record("append", lsn, id, Output.fields("sequence", sequence, "bytes", length, value));
    }

    @Override
    public void trim(long lsn, long id, long firstSequence) {
        record("trim", lsn, id, Map.of("first", firstSequence));
    }

    @Override
    public void delete(long lsn, long id) {
        record("delete", lsn, id, Map.of());
    }

    private void record(String type, long lsn, long id, Map<String, ?> fields) {
        print(type, Output.fields("lsn", lsn, list(id), fields));
    }

    /** Returns the number of a list, and the name of its document if known. */
    private Map<String, ?> list(long id) {
        DocumentName name = names.of(id);
        return Output.fields("list", id, name == null ? Map.of() : name(name));
    }

    private static Map<String, ?> name(DocumentName name) {
        return Output.textOrBase64("name", "nameBase64", name.toBytes());
    }

    private static Map<String, ?> value(ByteBuffer value) {
        byte[] bytes = new byte[value.remaining()];
        value.get(value.position(), bytes);
        return Output.textOrBase64("value", "valueBase64", bytes);
    }

    @Override
    public void missed(long from, long to) {
        moved = true;
        print("missed", Output.fields("from", from, "to", to));
    }

    @Override
    public void damaged(CorruptStoreException damage) {
        faults++;
        print(
                "damage",
                Output.fields(
                        "error", damage.getMessage(), "file", fileName(damage.file()), "offset", damage.offset()));
    }

    private static String fileName(String path) {
        Path name = Path.of(path).getFileName();
        return name == null ? path : name.toString();
    }

    @Override
    public void checkpoint(long number, String file, long startLsn, long endLsn, long lists, long entries) {
        Map<String, ?> range =
                Output.fields("startLsn", startLsn, "endLsn", endLsn, "lists", lists, "entries", entries);
        print("checkpoint", Output.fields("checkpoint", number, "file", fileName(file), range));
    }

    @Override
    public void list(long id, long first, long next, long count, long bytes) {
        if (announced != null) {
            document(announced);
            announced = null;
        }
        print("list", Output.fields(list(id), "first", first, "next", next, "count", count, "bytes", bytes));
    }

    @Override
    public void entry(long id, long sequence, ValueLocation place) {
        print("entry", fields(id, sequence, place));
    }

    @Override
    public void value(long id, long sequence, ValueLocation place, ByteBuffer value) {
        print("value", Output.fields(fields(id, sequence, place), value(value)));
    }

    private Map<String, ?> fields(long id, long sequence, ValueLocation place) {
        String in = place.inLog() ? "log" : "heap";
        Map<String, ?> where = Output.fields("in", in, "file", place.file(), "offset", place.offset());
        return Output.fields(list(id), "sequence", sequence, "bytes", place.length(), where);
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
        long base = DocumentAttributes.of(entry.attributes()).base();
        Map<String, ?> attributes = attributes(entry.attributes());
        print(
                "document",
                Output.fields("list", entry.id(), name(entry.name()), "base", base, "attributes", attributes));
    }

    /** Returns attributes as text, else in Base64; eight bytes that start with a zero byte are a number. */
    private static Map<String, ?> attributes(Attributes attributes) {
        Map<String, Object> fields = new LinkedHashMap<>();
        attributes.asMap().forEach((name, value) -> {
            if (value.length == Long.BYTES && value[0] == 0) {
                fields.put(name, ByteBuffer.wrap(value).getLong());
            } else {
                fields.putAll(Output.textOrBase64(name, name + "Base64", value));
            }
        });
        return fields;
    }

    void logEnd(long lsn, boolean torn) {
        print("logEnd", Output.fields("lsn", lsn, "torn", torn));
    }

    /** Prints the last line, which states the number of faults and whether data was moved during the dump. */
    void end() {
        print("end", Output.fields("damage", faults, "moved", moved));
    }

    /** Reads the document names, and the entry of the requested document, from a store's catalog, if there is one. */
    static final class CatalogVisitor implements StoreVisitor {
        private final StorePrinter printer;
        private final @Nullable DocumentName name;
        private boolean there;
        private @Nullable CatalogEntry wanted;

        /** Creates a visitor that passes names and damage to a printer, and looks for a document, unless it is null. */
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

    /** The most recently used document names by list id, in bounded memory. Not thread-safe. */
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
