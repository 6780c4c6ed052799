package io.caravan.server.archive.restore;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.ListStore;
import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentReader;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Outcome;
import io.caravan.server.document.SequenceRange;
import io.caravan.server.document.space.DocumentDurability;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** In-memory documents with strings as values and with blocking calls. */
final class TestStore implements AutoCloseable {
    final ListStore store;
    final DocumentService documents;

    TestStore() {
        this(ListStore.inMemory());
    }

    TestStore(ListStore store) {
        this.store = store;
        documents = new DocumentService(
                store,
                Catalog.open(store, DocumentService.CATALOG_LIST_ID),
                TestArchive.CLOCK,
                () -> TimeUnit.MILLISECONDS.toNanos(TestArchive.CLOCK.millis()),
                Duration.ofMinutes(1),
                DocumentDurability.SYNC);
    }

    @Nullable
    DocumentInfo find(String name) {
        return documents.find(DocumentName.of(name));
    }

    private <T> T write(String name, Function<EditedDocument, T> change) {
        return Outcome.<T>await(outcome -> documents.write(DocumentName.of(name), change, outcome));
    }

    long push(String name, String... values) {
        List<byte[]> bytes =
                Stream.of(values).map(value -> value.getBytes(UTF_8)).toList();
        return write(name, document -> document.append(bytes));
    }

    boolean delete(String name) {
        return write(name, EditedDocument::delete);
    }

    void trimTo(String name, long sequence) {
        write(name, document -> {
            document.trimTo(sequence);
            return true;
        });
    }

    void attributes(String name, DocumentAttributes attributes) {
        write(name, document -> {
            document.attributes(attributes);
            return true;
        });
    }

    List<String> read(String name) {
        return bytes(name).stream().map(value -> new String(value, UTF_8)).toList();
    }

    List<byte[]> bytes(String name) {
        List<byte[]> values = new ArrayList<>();
        documents.read(
                DocumentName.of(name),
                info -> new SequenceRange(info.firstSequence(), info.nextSequence()),
                new DocumentReader() {
                    @Override
                    public void begin(long count) {}

                    @Override
                    public boolean next(long sequence, ByteBuffer value) {
                        byte[] copy = new byte[value.remaining()];
                        value.get(copy);
                        return values.add(copy);
                    }
                });
        return values;
    }

    /** The progress reports of a restore, recorded for the test. */
    static final class Reports extends RestoreProgress {
        final List<Restored> restored = new ArrayList<>();
        final List<RestoreFault> faults = new ArrayList<>();

        @Override
        protected void restored(Restored document) {
            super.restored(document);
            restored.add(document);
        }

        @Override
        protected void fault(RestoreFault fault) {
            super.fault(fault);
            faults.add(fault);
        }
    }

    @Override
    public void close() {
        documents.close();
        store.close();
    }
}
