package io.caravan.server.cli.store;

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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** Prints the contents of a store's files, one object per line; throws {@link java.io.UncheckedIOException}. */
final class StorePrinter implements StoreVisitor {
    /** The number of names that are remembered, which take about 10 MiB, and at most six times as much. */
    private static final int MAX_NAMES = 50_000;

    private final Output output;
    private final boolean withValues;
    private final RecentNames names = new RecentNames();
    private volatile long lines;
    private long faults;
    private boolean moved;

    StorePrinter(Output output, boolean withValues) {
        this.output = output;
        this.withValues = withValues;
    }

    /** The most recently used document names by list id. Not thread-safe. */
    static final class RecentNames extends LinkedHashMap<Long, DocumentName> {
        private static final long serialVersionUID = 1L;

        RecentNames() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, DocumentName> eldest) {
            return size() > MAX_NAMES;
        }
    }

    /** Returns the number of printed lines; callable from any thread. */
    long lines() {
        return lines;
    }

    long faults() {
        return faults;
    }

    /** Whether data was moved while it was being read. */
    boolean moved() {
        return moved;
    }

    int exitCode() {
        return faults == 0 ? CommandLine.ExitCode.OK : StoreCommand.DAMAGED;
    }

    /** Prints an object whose first field is its type; the parts are as in {@link Output#fields}. */
    void print(String type, @Nullable Object... parts) {
        Output.unchecked(() -> output.object(Output.fields("type", type, Output.fields(parts))));
        lines = lines + 1;
    }

    /** Learns the names in the catalog, and passes on its entries. Returns whether the store has a catalog. */
    boolean readCatalog(ContentsReader contents, Consumer<CatalogEntry> entries) throws IOException {
        boolean[] found = {false};
        contents.readList(DocumentService.CATALOG_LIST_ID, new StoreVisitor() {
            @Override
            public void value(long id, long sequence, ValueLocation place, ByteBuffer value) {
                CatalogEntry entry = CatalogEntry.decodeIfValid(value);
                if (entry != null) {
                    found[0] = true;
                    names.put(entry.id(), entry.name());
                    entries.accept(entry);
                }
            }

            @Override
            public void damaged(CorruptStoreException damage) {
                StorePrinter.this.damaged(damage);
            }
        });
        return found[0];
    }

    @Override
    public void segment(long number, String file) {
        print("segment", "segment", number, "file", fileName(file));
    }

    @Override
    public void ahead(long id, ByteBuffer value) {
        CatalogEntry entry = id == DocumentService.CATALOG_LIST_ID ? CatalogEntry.decodeIfValid(value) : null;
        if (entry != null) {
            names.put(entry.id(), entry.name());
        }
    }

    @Override
    public void append(long lsn, long id, long sequence, long entryLsn, ByteBuffer buffer, int entryAt, int length) {
        Map<String, ?> value = withValues ? value(buffer.slice(entryAt + EntryLayout.VALUE, length)) : Map.of();
        print("append", "lsn", lsn, list(id), "sequence", sequence, "bytes", length, value);
    }

    @Override
    public void trim(long lsn, long id, long firstSequence) {
        print("trim", "lsn", lsn, list(id), "first", firstSequence);
    }

    @Override
    public void delete(long lsn, long id) {
        print("delete", "lsn", lsn, list(id));
    }

    /** Returns the number of a list, and the name of its document if known. */
    private Map<String, ?> list(long id) {
        DocumentName name = names.get(id);
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
        print("missed", "from", from, "to", to);
    }

    @Override
    public void damaged(CorruptStoreException damage) {
        faults++;
        print("damage", "error", damage.getMessage(), "file", fileName(damage.file()), "offset", damage.offset());
    }

    private static String fileName(String path) {
        Path name = Path.of(path).getFileName();
        return name == null ? path : name.toString();
    }

    @Override
    public void checkpoint(long number, String file, long startLsn, long endLsn, long lists, long entries) {
        Map<String, ?> range = Output.fields("startLsn", startLsn, "endLsn", endLsn);
        print("checkpoint", "checkpoint", number, "file", fileName(file), range, "lists", lists, "entries", entries);
    }

    @Override
    public void list(long id, long first, long next, long count, long bytes) {
        print("list", list(id), "first", first, "next", next, "count", count, "bytes", bytes);
    }

    @Override
    public void entry(long id, long sequence, ValueLocation place) {
        print("entry", fields(id, sequence, place));
    }

    @Override
    public void value(long id, long sequence, ValueLocation place, ByteBuffer value) {
        print("value", fields(id, sequence, place), value(value));
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

    void document(CatalogEntry entry) {
        names.put(entry.id(), entry.name());
        Map<String, ?> attributes = attributes(entry.attributes());
        long base = DocumentAttributes.of(entry.attributes()).base();
        print("document", "list", entry.id(), name(entry.name()), "base", base, "attributes", attributes);
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
}
