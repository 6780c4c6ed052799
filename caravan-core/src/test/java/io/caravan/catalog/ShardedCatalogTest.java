package io.caravan.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.caravan.CorruptStoreException;
import io.caravan.ListStore;
import io.caravan.ShardedStore;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.testing.ForwardingListStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests a catalog whose documents are in several shards, chosen by the last digit of their names. */
class ShardedCatalogTest {
    private static final int SHARDS = 3;

    private final List<ListStore> shards =
            Stream.<ListStore>generate(ListStore::inMemory).limit(SHARDS).toList();
    private Catalog catalog = open(new ShardedStore(shards));

    private static Catalog open(ListStore store) {
        return Catalog.open(store, 0, name -> (name.text().charAt(name.text().length() - 1) - '0') % SHARDS);
    }

    private static DocumentName name(int number) {
        return DocumentName.of("document-" + number);
    }

    private void edit(DocumentName name, Consumer<DocumentEdit> operations) {
        CompletableFuture<Long> durable = new CompletableFuture<>();
        try (Edit edit = catalog.edit(name)) {
            operations.accept(edit.document(name));
            edit.commit(WriteCallback.completing(durable), true);
        }
        durable.join();
    }

    private void fill() {
        for (int i = 0; i < 30; i++) {
            byte[] value = {(byte) i};
            edit(name(i), document -> document.append(value));
        }
    }

    @Test
    void storesDocumentAndCatalogEntryInSameShard() {
        fill();
        for (int shard = 0; shard < SHARDS; shard++) {
            ListStore store = shards.get(shard);
            List<Long> ids = new ArrayList<>();
            store.forEachList(ids::add);
            assertThat(ids).contains(0L).hasSizeGreaterThan(9);
            assertThat(ids).allMatch(id -> id == 0 || id % SHARDS == store(id));
            assertThat(store.read(0)).hasSize(ids.size() - 1);
        }
        assertThat(catalog.size()).isEqualTo(30);
    }

    private int store(long id) {
        return IntStream.range(0, SHARDS)
                .filter(shard -> shards.get(shard).info(id) != null)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void editWithoutShardLocksNothing() {
        DocumentName withoutShard = DocumentName.of("document-+");
        assertThatExceptionOfType(ArrayIndexOutOfBoundsException.class).isThrownBy(() -> catalog.edit(withoutShard));
        assertThat(catalog.stripe(withoutShard).lock.isLocked()).isFalse();
    }

    @Test
    void reopenedCatalogFindsDocumentsOfAllShards() {
        fill();
        edit(name(4), DocumentEdit::delete);
        edit(name(6), document -> document.attributes(Attributes.EMPTY.with("key", new byte[] {7})));
        List<DocumentState> before = IntStream.range(0, 30)
                .filter(i -> i != 4)
                .mapToObj(i -> Objects.requireNonNull(catalog.find(name(i))))
                .toList();
        catalog = open(new ShardedStore(shards));
        assertThat(catalog.find(name(4))).isNull();
        assertThat(IntStream.range(0, 30)
                        .filter(i -> i != 4)
                        .mapToObj(i -> Objects.requireNonNull(catalog.find(name(i))))
                        .toList())
                .isEqualTo(before);
        edit(name(4), document -> document.append(new byte[] {1}));
        assertThat(before.stream().map(DocumentState::id))
                .doesNotContain(Objects.requireNonNull(catalog.find(name(4))).id());
    }

    @Test
    void pagesCoverAllShards() {
        fill();
        List<DocumentName> found = new ArrayList<>();
        long cursor = 0;
        do {
            Catalog.Page page = catalog.page(cursor, 4);
            page.documents().forEach(document -> found.add(document.name()));
            cursor = page.next();
        } while (cursor != 0);
        assertThat(found).hasSize(30).doesNotHaveDuplicates();
    }

    @Test
    void editIsLimitedToOneShard() {
        try (Edit edit = catalog.edit(List.of(name(1), name(4)))) {
            edit.document(name(1)).append(new byte[1]);
            edit.document(name(4)).append(new byte[1]);
            edit.commit(WriteCallback.completing(new CompletableFuture<>()), true);
        }
        assertThat(shards.get(1).read(0)).hasSize(2);
        assertThatIllegalArgumentException().isThrownBy(() -> catalog.edit(List.of(name(1), name(2))));
        // The rejected edit has released its locks.
        edit(name(1), DocumentEdit::delete);
    }

    /** A store whose writes never become durable. It counts the flushes that callers request. */
    private static final class HangingStore extends ForwardingListStore {
        int flushes;

        HangingStore() {
            super(ListStore.inMemory());
        }

        @Override
        public void write(WriteBatch batch, WriteCallback callback) {
            super.write(batch, WriteCallback.completing(new CompletableFuture<>()));
        }

        @Override
        public void flush() {
            flushes++;
        }
    }

    @Test
    void findWaitsOnlyForShardOfDocument() {
        List<HangingStore> hanging =
                Stream.generate(HangingStore::new).limit(SHARDS).toList();
        catalog = open(new ShardedStore(hanging));
        try (Edit edit = catalog.edit(name(2))) {
            edit.document(name(2)).append(new byte[1]);
            edit.commit(WriteCallback.completing(new CompletableFuture<>()), true);
        }
        assertThat(catalog.find(name(2))).isNotNull();
        assertThat(hanging.stream().map(store -> store.flushes)).containsExactly(0, 0, 1);
    }

    @Test
    void rejectsSwappedShards() {
        fill();
        ShardedStore exchanged = new ShardedStore(List.of(shards.get(0), shards.get(2), shards.get(1)));
        assertThatExceptionOfType(CorruptStoreException.class)
                .isThrownBy(() -> open(exchanged))
                .withMessageContaining("catalog of shard 1")
                .withMessageContaining("of shard 2");
    }

    @Test
    void acceptsOnlyOneShardWithoutShardFunction() {
        assertThatIllegalArgumentException().isThrownBy(() -> Catalog.open(new ShardedStore(shards), 0));
        assertThat(Catalog.open(ListStore.inMemory(), 0).shards()).isOne();
    }
}
