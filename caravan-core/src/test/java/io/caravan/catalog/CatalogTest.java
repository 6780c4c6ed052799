package io.caravan.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.caravan.CorruptStoreException;
import io.caravan.Durability;
import io.caravan.ListStore;
import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreClosedException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.testing.ForwardingListStore;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CatalogTest {
    private static final long LIST_ID = 0;
    private static final DocumentName A = DocumentName.of("a");
    private static final DocumentName B = DocumentName.of("b");
    private static final byte[] VALUE = {1};

    private final ListStore store = ListStore.inMemory();
    private final FullStore full = new FullStore(store);
    private Catalog catalog = Catalog.open(full, LIST_ID);

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    void printedNameEscapesControlCharacters() {
        DocumentName name = DocumentName.of("a\nb\r\t\u001b\u0085\u2028\u007f ä\\");
        assertThat(name).hasToString("a\\nb\\r\\t\\u001b\\u0085\\u2028\\u007f ä\\");
        assertThat(name.text()).isEqualTo("a\nb\r\t\u001b\u0085\u2028\u007f ä\\");
    }

    private long retainedEntries() {
        return Objects.requireNonNull(store.accepted(LIST_ID)).count();
    }

    private void edit(DocumentName name, Consumer<DocumentEdit> operations) {
        edit(List.of(name), edit -> operations.accept(edit.document(name)));
    }

    private void edit(List<DocumentName> names, Consumer<Edit> operations) {
        CompletableFuture<Long> durable = new CompletableFuture<>();
        try (Edit edit = catalog.edit(names)) {
            operations.accept(edit);
            edit.commit(WriteCallback.completing(durable), true);
        }
        durable.join();
    }

    private void append(DocumentName name) {
        edit(name, document -> document.append(VALUE));
    }

    /** Creates {@code count} documents with one value each, and returns their names. */
    private List<DocumentName> appendToMany(String prefix, int count) {
        List<DocumentName> names = IntStream.range(0, count)
                .mapToObj(i -> DocumentName.of(prefix + i))
                .toList();
        names.forEach(this::append);
        return names;
    }

    /** Waits until the next change may compact the list. A slow disk prepares a log segment during many changes. */
    private void awaitWritable() {
        CompletableFuture<Void> writable = new CompletableFuture<>();
        store.onWritable(() -> writable.complete(null));
        writable.join();
    }

    private DocumentState state(DocumentName name) {
        return Objects.requireNonNull(catalog.find(name), "no document " + name);
    }

    private void reopen() {
        catalog = Catalog.open(full, LIST_ID);
    }

    @Test
    void firstAppendCreatesDocument() {
        assertThat(catalog.find(A)).isNull();
        append(A);
        append(A);
        assertThat(state(A)).isEqualTo(new DocumentState(1, 0, 2, Attributes.EMPTY));
        assertThat(store.read(1)).hasSize(2);
        assertThat(catalog.size()).isOne();
        reopen();
        assertThat(state(A)).isEqualTo(new DocumentState(1, 0, 2, Attributes.EMPTY));
    }

    @Test
    void onlyFirstAppendAddsCatalogEntry() {
        append(A);
        append(A);
        edit(A, document -> document.trimTo(1));
        assertThat(store.read(LIST_ID)).hasSize(1);
    }

    @Test
    void neverReusesIdOfDeletedDocument() {
        append(A);
        edit(A, DocumentEdit::delete);
        assertThat(catalog.find(A)).isNull();
        reopen();
        assertThat(catalog.find(A)).isNull();
        append(A);
        assertThat(state(A).id()).isEqualTo(2);
        assertThat(store.info(1)).isNull();
    }

    /** Checks that one batch replaces document A with the list of B, and that the catalog then has the right names. */
    @Test
    void takeOverReplacesDocument() {
        append(A);
        append(B);
        append(B);
        edit(List.of(A, B), edit -> edit.document(A).takeOver(edit.document(B)));
        for (int i = 0; i < 2; i++) {
            assertThat(state(A)).isEqualTo(new DocumentState(2, 0, 2, Attributes.EMPTY));
            assertThat(catalog.find(B)).isNull();
            assertThat(store.info(1)).isNull();
            assertThat(catalog.size()).isOne();
            reopen();
        }
        Map<Long, DocumentName> names = new HashMap<>();
        store.read(LIST_ID).forEach(value -> {
            CatalogEntry entry = CatalogEntry.decode(ByteBuffer.wrap(value.value()), LIST_ID, value.sequence());
            names.put(entry.id(), entry.name());
        });
        assertThat(names).containsEntry(2L, A);
        try (Edit edit = catalog.edit(List.of(A, B))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> edit.document(A).takeOver(edit.document(B)));
        }
    }

    @Test
    void emptiedDocumentKeepsItsSequences() {
        append(A);
        edit(A, document -> document.trimTo(9));
        assertThat(state(A)).isEqualTo(new DocumentState(1, 1, 1, Attributes.EMPTY));
        reopen();
        assertThat(state(A)).isEqualTo(new DocumentState(1, 1, 1, Attributes.EMPTY));
    }

    @Test
    void documentCanHaveAttributesWithoutValues() {
        Attributes typed = Attributes.EMPTY.with("type", new byte[] {7});
        edit(A, document -> document.attributes(typed));
        reopen();
        assertThat(state(A)).isEqualTo(new DocumentState(1, 0, 0, typed));
        append(A);
        reopen();
        assertThat(state(A)).isEqualTo(new DocumentState(1, 0, 1, typed));
        edit(B, document -> document.attributes(typed));
        edit(B, DocumentEdit::delete);
        reopen();
        assertThat(catalog.find(B)).isNull();
        assertThat(state(A).attributes()).isEqualTo(typed);
    }

    @Test
    void editSeesItsOwnOperations() {
        append(A);
        edit(A, document -> {
            document.delete();
            assertThat(document.state()).isNull();
            assertThat(document.append(VALUE)).isZero();
            assertThat(document.append(VALUE)).isOne();
            document.trimTo(1);
            assertThat(document.state()).isEqualTo(new DocumentState(2, 1, 2, Attributes.EMPTY));
        });
        assertThat(state(A)).isEqualTo(new DocumentState(2, 1, 2, Attributes.EMPTY));
        reopen();
        assertThat(state(A)).isEqualTo(new DocumentState(2, 1, 2, Attributes.EMPTY));
        assertThat(store.info(1)).isNull();
    }

    @Test
    void editOfSeveralDocumentsIsOneBatch() {
        edit(List.of(B, A, B), edit -> {
            edit.document(A).append(VALUE);
            edit.document(B).append(VALUE);
        });
        assertThat(full.batches).isOne();
        assertThat(catalog.size()).isEqualTo(2);
        assertThat(state(A).id()).isNotEqualTo(state(B).id());
    }

    @Test
    void uncommittedEditChangesNothing() {
        try (Edit edit = catalog.edit(A)) {
            edit.document(A).append(VALUE);
        }
        assertThat(catalog.find(A)).isNull();
        assertThat(full.batches).isZero();
    }

    @Test
    void editRejectsOtherNamesAndSecondCommit() {
        try (Edit edit = catalog.edit(A)) {
            assertThatIllegalArgumentException().isThrownBy(() -> edit.document(B));
            edit.commit(WriteCallback.completing(new CompletableFuture<>()), true);
            assertThatIllegalStateException()
                    .isThrownBy(() -> edit.commit(WriteCallback.completing(new CompletableFuture<>()), true));
        }
    }

    @Test
    void rejectedWriteLeavesCatalogUnchanged() {
        append(A);
        full.full = true;
        assertThatExceptionOfType(OutOfSpaceException.class).isThrownBy(() -> append(B));
        assertThatExceptionOfType(OutOfSpaceException.class).isThrownBy(() -> append(A));
        assertThatExceptionOfType(OutOfSpaceException.class)
                .isThrownBy(() -> edit(A, document -> document.attributes(Attributes.EMPTY.with("k", VALUE))));
        full.full = false;
        assertThat(catalog.find(B)).isNull();
        assertThat(state(A)).isEqualTo(new DocumentState(1, 0, 1, Attributes.EMPTY));
        append(B);
        assertThat(state(B).nextSequence()).isOne();
        reopen();
        assertThat(state(B).nextSequence()).isOne();
    }

    @Test
    void fullStoreAcceptsTrimsAndDeletes() {
        append(A);
        append(B);
        full.full = true;
        edit(A, document -> document.trimTo(1));
        edit(B, DocumentEdit::delete);
        assertThat(state(A).length()).isZero();
        assertThat(catalog.find(B)).isNull();
        reopen();
        assertThat(catalog.find(B)).isNull();
    }

    /** Checks that compaction bounds the catalog's list, although it pauses while a log segment is being prepared. */
    @Test
    void compactionKeepsListProportionalToLiveDocuments() {
        appendToMany("live", 100);
        for (int i = 0; i < 5_000; i++) {
            awaitWritable();
            DocumentName name = DocumentName.of("short" + i % 7);
            append(name);
            edit(name, DocumentEdit::delete);
            assertThat(retainedEntries()).isLessThanOrEqualTo(3 * catalog.size() + CatalogLog.FLOOR_ENTRIES);
        }
        reopen();
        assertThat(catalog.size()).isEqualTo(100);
        append(A);
        assertThat(state(A).id()).isEqualTo(5_101);
    }

    @Test
    void nextIdSurvivesDeletionOfAllDocuments() {
        appendToMany("n", 200).forEach(name -> edit(name, DocumentEdit::delete));
        reopen();
        assertThat(catalog.size()).isZero();
        append(A);
        assertThat(state(A).id()).isEqualTo(201);
    }

    @Test
    void nextIdSurvivesDeletionOfAllDocumentsInOneEdit() {
        List<DocumentName> names = appendToMany("n", 200);
        awaitWritable();
        edit(names, edit -> names.forEach(name -> edit.document(name).delete()));
        assertThat(retainedEntries()).isOne();
        reopen();
        append(A);
        assertThat(state(A).id()).isEqualTo(201);
    }

    /** Checks that a store that is closed after it has accepted a change rejects only the compaction that follows. */
    @Test
    void changeOfClosingStoreIsAcceptedWithoutCompaction() {
        List<DocumentName> names = appendToMany("n", 200);
        full.crowded = true;
        names.forEach(name -> edit(name, DocumentEdit::delete));
        full.closing = true;
        append(A);
        full.closing = false;
        assertThat(state(A).nextSequence()).isOne();
        assertThat(retainedEntries()).isEqualTo(201);
    }

    @Test
    void rejectedCompactionIsRetriedLater() {
        List<DocumentName> names = appendToMany("n", 200);
        full.full = true;
        names.subList(0, 190).forEach(name -> edit(name, DocumentEdit::delete));
        full.full = false;
        awaitWritable();
        append(A);
        awaitWritable();
        append(B);
        assertThat(retainedEntries()).isLessThan(3 * 12 + CatalogLog.FLOOR_ENTRIES);
        reopen();
        assertThat(catalog.size()).isEqualTo(12);
    }

    @Test
    void readersWaitUntilCatalogEntryIsDurable() {
        DelayingStore delayed = new DelayingStore(store);
        catalog = Catalog.open(delayed, LIST_ID);
        try (Edit edit = catalog.edit(A)) {
            edit.document(A).append(VALUE);
            edit.commit(WriteCallback.completing(new CompletableFuture<>()), true);
        }
        assertThat(state(A).id()).isOne();
        assertThat(delayed.flushes).isOne();
        assertThat(state(A).id()).isOne();
        assertThat(delayed.flushes).as("nothing is in flight any more").isOne();
    }

    @Test
    void pagesRespectLimitAndListDocumentsOnceDuringGrowth() {
        appendToMany("stays:", 1_000);
        List<DocumentName> found = new ArrayList<>();
        int pages = 0;
        long cursor = 0;
        do {
            int limit = 1 + pages % 7;
            Catalog.Page page = catalog.page(cursor, limit);
            assertThat(page.documents()).hasSizeLessThanOrEqualTo(limit);
            page.documents().stream()
                    .map(NamedDocument::name)
                    .filter(name -> name.toString().startsWith("stays"))
                    .forEach(found::add);
            for (int i = 0; i < 10; i++) {
                DocumentName other = DocumentName.of("comes:" + pages + ":" + i);
                append(other);
                if (i < 4) {
                    edit(other, DocumentEdit::delete);
                }
            }
            pages++;
            cursor = page.next();
        } while (cursor != 0);
        assertThat(found).doesNotHaveDuplicates().hasSize(1_000);
        assertThatIllegalArgumentException().isThrownBy(() -> catalog.page(-1, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> catalog.page(0, 0));
    }

    /** Uses documents with the same name, because documents with different names rarely have the same hash. */
    @Test
    void pageCanEndBetweenDocumentsWithSameHash() {
        DocumentTable table = new DocumentTable();
        for (int id = 5; id >= 1; id--) {
            table.add(new CatalogDocument(A.bytes(), id, Attributes.EMPTY, true));
        }
        int place = DocumentTable.place(Objects.requireNonNull(table.find(A)));
        assertThat(table.from(0, 0, 2)).extracting(document -> document.id).containsExactly(1L, 2L);
        assertThat(table.from(place, 3, 9)).extracting(document -> document.id).containsExactly(3L, 4L, 5L);
        assertThat(table.from(place + 1, 0, 9)).isEmpty();
    }

    @Test
    void rejectsListThatIsNotCatalog() {
        store.append(LIST_ID, new byte[] {1, 2, 3}).join();
        assertThatExceptionOfType(CorruptStoreException.class)
                .isThrownBy(this::reopen)
                .withMessageContaining("document 0, sequence 0");
    }

    @Test
    void writeThatMayNotWaitIsRejectedInsteadOfWaitingForSpace() {
        full.crowded = true;
        try (Edit edit = catalog.edit(A)) {
            edit.document(A).append(VALUE);
            assertThatExceptionOfType(NotWritableException.class)
                    .isThrownBy(() -> edit.commit(WriteCallback.completing(new CompletableFuture<>()), false));
        }
        assertThat(catalog.find(A)).isNull();
        full.crowded = false;
        append(A);
        full.crowded = true;
        assertThatExceptionOfType(NotWritableException.class)
                .isThrownBy(() -> catalog.append(
                        A,
                        List.of(VALUE),
                        Durability.SYNC,
                        state -> true,
                        after -> WriteCallback.completing(new CompletableFuture<>())));
        full.crowded = false;
        assertThat(state(A).nextSequence()).isEqualTo(1);
    }

    @Test
    void rejectsListIdAvailableToDocuments() {
        assertThatIllegalArgumentException().isThrownBy(() -> Catalog.open(store, 1));
    }

    /** A store that can be made to reject every batch that needs space. */
    private static final class FullStore extends ForwardingListStore {
        private boolean full;
        /** Whether the store reports that a write would have to wait for space. */
        private volatile boolean crowded;

        private boolean closing;
        private int batches;

        FullStore(ListStore store) {
            super(store);
        }

        @Override
        public void write(WriteBatch batch, WriteCallback callback) {
            if (full && batch.operations().stream().anyMatch(WriteBatch.Append.class::isInstance)) {
                throw new OutOfSpaceException("full");
            }
            batches++;
            super.write(batch, callback);
        }

        @Override
        public boolean writable() {
            if (closing) {
                throw new StoreClosedException("the store");
            }
            return super.writable();
        }

        @Override
        public boolean tryWrite(WriteBatch batch, WriteCallback callback) {
            return !crowded && super.tryWrite(batch, callback);
        }
    }

    /** A store that calls no callback until it is flushed. */
    private static final class DelayingStore extends ForwardingListStore {
        private Runnable delayed = () -> {};
        private int flushes;

        DelayingStore(ListStore store) {
            super(store);
        }

        @Override
        public void write(WriteBatch batch, WriteCallback callback) {
            CompletableFuture<Long> written = new CompletableFuture<>();
            super.write(batch, WriteCallback.completing(written));
            delayed = () -> callback.success(written.join());
        }

        @Override
        public void flush() {
            flushes++;
            delayed.run();
        }
    }
}
