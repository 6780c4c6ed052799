package io.caravan.server.cli.store;

import io.caravan.CorruptStoreException;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.DocumentNames;
import io.caravan.inspect.ContentsReader;
import io.caravan.inspect.ContentsVisitor;
import io.caravan.inspect.Place;
import io.caravan.server.document.DocumentService;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads the document names, and the entry of the requested document, from a store's catalog, if there is one. */
final class CatalogVisitor implements ContentsVisitor {
    private final StorePrinter printer;
    private final @Nullable DocumentName name;
    private boolean there;
    private DocumentNames.@Nullable Entry wanted;

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
    DocumentNames.@Nullable Entry wanted() {
        return wanted;
    }

    @Override
    public void value(long id, long sequence, Place place, ByteBuffer value) {
        DocumentNames.Entry entry = DocumentNames.read(value);
        if (entry == null) {
            return;
        }
        there = true;
        printer.names().learn(entry);
        if (name != null && name.equals(entry.name())) {
            wanted = entry.removed() ? null : entry;
        }
    }

    @Override
    public void damaged(CorruptStoreException damage) {
        printer.damaged(damage);
    }

    @Override
    public void checkpoint(long number, String file, long startLsn, long endLsn, long lists, long entries) {}

    @Override
    public void list(long id, long first, long next, long count, long bytes) {}

    @Override
    public void entry(long id, long sequence, Place place) {}

    @Override
    public void moved(long id, long sequence) {}
}
