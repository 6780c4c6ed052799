package io.caravan.server.document;

import static io.caravan.server.document.Documents.name;
import static io.caravan.server.document.Documents.values;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreConfig;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.testing.ForwardingListStore;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests the document operations that the archive uses. */
class ArchivedDocumentTest {
    private static final ArchiveMark MARK = new ArchiveMark(77, 3, 0, 2, 1_000, 0);

    @AutoClose
    private final Documents documents = new Documents();

    /** Marks the current state of a document as archived. */
    private void archive(String name) {
        DocumentInfo info = documents.found(name);
        int hash = info.attributes().portableHash();
        ArchiveMark mark = new ArchiveMark(77, 1, info.firstSequence(), info.nextSequence(), 0, hash);
        assertThat(documents.mark(name, info.id(), mark)).isTrue();
    }

    private void restore(String name, long first, String... values) {
        documents.edit(name, document -> document.restore(Attributes.EMPTY, MARK, first, values(values)));
    }

    /** Returns a snapshot as text: the range of sequences, then each value preceded by its sequence. */
    private List<String> snapshot(String name) {
        List<String> lines = new ArrayList<>();
        boolean there = documents.service().snapshot(name(name), new DocumentReader() {
            @Override
            public boolean begin(DocumentInfo info) {
                lines.add(info.firstSequence() + ".." + info.nextSequence());
                return true;
            }

            @Override
            public boolean next(long sequence, ByteBuffer value) {
                return lines.add(sequence + ":" + StandardCharsets.UTF_8.decode(value));
            }
        });
        return there ? lines : List.of("missing");
    }

    @Test
    void documentIsDirtyUntilMarkMatchesItsState() {
        documents.push("a", "1", "2");
        assertThat(documents.found("a").archived()).isFalse();

        assertThat(documents.mark("a", documents.found("a").id(), ArchiveMark.first(77)))
                .isTrue();
        assertThat(documents.found("a").archived()).isFalse();

        archive("a");
        assertThat(documents.found("a").archived()).isTrue();

        documents.push("a", "3");
        assertThat(documents.found("a").archived()).isFalse();
        archive("a");
        documents.edit("a", document -> document.trimTo(1));
        assertThat(documents.found("a").archived()).isFalse();
        archive("a");
        documents.edit(
                "a",
                document ->
                        document.attributes(documents.found("a").attributes().withContentType("text/x")));
        assertThat(documents.found("a").archived()).isFalse();

        archive("a");
        documents.reopen();
        assertThat(documents.found("a").archived()).isTrue();
    }

    @Test
    void markAppliesOnlyToItsIncarnation() {
        documents.push("a", "1");
        long id = documents.found("a").id();
        documents.delete("a");
        documents.push("a", "2");

        assertThat(documents.mark("a", id, MARK)).isFalse();
        assertThat(documents.mark("missing", id, MARK)).isFalse();
        assertThat(documents.found("a").attributes().archived()).isNull();
        assertThat(documents.find("missing")).isNull();
    }

    @Test
    void snapshotIsCompleteUnlessDeletedOrExpired() {
        documents.push("a", "1", "2", "3");
        documents.edit("a", document -> document.trimTo(1));
        assertThat(snapshot("a")).containsExactly("1..3", "1:2", "2:3");

        documents.edit("a", document -> document.trimTo(3));
        assertThat(snapshot("a")).containsExactly("3..3");
        documents.create("empty", "text/plain");
        assertThat(snapshot("empty")).containsExactly("0..0");

        documents.delete("a");
        assertThat(snapshot("a")).containsExactly("missing");
        documents.create("soon", Documents.expiring(OptionalLong.empty(), OptionalLong.of(documents.nowMillis())));
        assertThat(snapshot("soon")).containsExactly("missing");
    }

    @Test
    void forkSnapshotIncludesSourceValues() {
        documents.push("a", "1", "2");
        documents.create("b", Documents.fork("a", OptionalLong.of(1), "3"));

        assertThat(snapshot("b")).containsExactly("0..2", "0:1", "1:3");
    }

    @Test
    void deletionStaysPendingUntilArchived() {
        documents.push("unmarked", "1");
        documents.delete("unmarked");
        assertThat(documents.service().pendingDeletions()).isEmpty();

        for (String name : List.of("a", "b", "c")) {
            documents.push(name, "1");
            archive(name);
            documents.delete(name);
        }
        assertThat(documents.service().deletionPending(name("b"))).isTrue();
        documents.reopen();
        List<DeletionRecord> pending = documents.service().pendingDeletions();
        assertThat(pending).extracting(DeletionRecord::name).containsExactly(name("a"), name("b"), name("c"));
        assertThat(pending.get(0)).isEqualTo(new DeletionRecord(77, 1, documents.nowMillis(), name("a")));

        documents.service().deletionArchived(pending.get(1));
        documents.reopen();
        assertThat(documents.service().pendingDeletions())
                .as("only the oldest ones can be trimmed")
                .hasSize(3);
        documents.service().deletionArchived(pending.get(0));
        documents.service().deletionArchived(pending.get(1));
        documents.reopen();
        assertThat(documents.service().pendingDeletions()).containsExactly(pending.get(2));

        documents.service().deletionArchived(pending.get(2));
        assertThat(documents.service().deletionPending(name("c"))).isFalse();
        documents.reopen();
        assertThat(documents.service().pendingDeletions()).isEmpty();
    }

    @Test
    void expiryRecordsPendingDeletion() {
        OptionalLong soon = OptionalLong.of(documents.nowMillis() + 1_000);
        documents.create("a", Documents.expiring(OptionalLong.empty(), soon));
        archive("a");
        documents.pass(Duration.ofSeconds(2));
        documents.awaitSweptTo(0);
        documents.service().store().flush();

        assertThat(documents.service().pendingDeletions())
                .extracting(DeletionRecord::name)
                .containsExactly(name("a"));
    }

    @Test
    void documentKeptForForksIsDeletedOnce() {
        documents.push("a", "1");
        archive("a");
        documents.create("b", Documents.fork("a", OptionalLong.empty()));
        documents.delete("a");
        documents.delete("b");

        assertThat(documents.service().pendingDeletions())
                .extracting(DeletionRecord::name)
                .containsExactly(name("a"));
    }

    /** Checks that a full store has space for the records of deletions. */
    @Test
    void fullStoreRecordsDeletions() {
        List<String> names =
                IntStream.range(0, 100).mapToObj(i -> "archived" + i).toList();
        StoreConfig small = StoreConfig.builder(Path.of("memory"))
                .maxValueBytes(2_048)
                .logBufferBytes(1 << 16)
                .logSegmentBytes(1 << 18)
                .heapSegmentBytes(1 << 20)
                .maxHeapBytes(1 << 20)
                .build();
        try (Documents full = new Documents(ListStore.inMemory(small))) {
            names.forEach(name -> archive(full, name));
            assertThatExceptionOfType(OutOfSpaceException.class).isThrownBy(() -> {
                while (true) {
                    full.push("filler", "x".repeat(1_000));
                }
            });
            assertThatExceptionOfType(OutOfSpaceException.class).isThrownBy(() -> {
                while (true) {
                    full.push("filler", "x");
                }
            });

            names.forEach(name -> assertThat(full.delete(name)).isTrue());
            full.reopen();

            List<DeletionRecord> pending = full.service().pendingDeletions();
            assertThat(pending)
                    .extracting(DeletionRecord::name)
                    .containsExactlyElementsOf(
                            names.stream().map(DocumentName::of).toList());
            pending.forEach(full.service()::deletionArchived);
            full.reopen();
            assertThat(full.service().pendingDeletions()).isEmpty();
        }
    }

    private static void archive(Documents documents, String name) {
        documents.push(name, "1");
        assertThat(documents.mark(name, documents.found(name).id(), MARK)).isTrue();
    }

    private static CompletableFuture<Boolean> delete(Documents documents, String name) {
        CompletableFuture<Boolean> deleted = new CompletableFuture<>();
        documents
                .service()
                .write(
                        name(name),
                        EditedDocument::delete,
                        Outcome.of(deleted::complete, deleted::completeExceptionally));
        documents.store().flush();
        return deleted;
    }

    /** A store that reports every write as failed while {@code failing} is set. */
    private static final class FailingStore extends ForwardingListStore {
        private boolean failing;

        FailingStore() {
            super(ListStore.inMemory());
        }

        @Override
        public void write(WriteBatch batch, WriteCallback callback) {
            if (failing) {
                callback.failure(new OutOfSpaceException("failed"));
            } else {
                super.write(batch, callback);
            }
        }
    }

    @Test
    void failedDeletionIsNotPending() {
        FailingStore store = new FailingStore();
        try (Documents failed = new Documents(store)) {
            failed.push("a", "1");
            assertThat(failed.mark("a", failed.found("a").id(), MARK)).isTrue();
            store.failing = true;
            assertThatThrownBy(() -> failed.delete("a")).isInstanceOf(CaravanException.class);
            assertThat(failed.service().deletionPending(name("a"))).isFalse();
            store.failing = false;
        }
    }

    @Test
    void restoredDocumentContinuesAtItsSequence() {
        restore("a", 500, "x", "y");

        assertThat(snapshot("a")).containsExactly("500..502", "500:x", "501:y");
        assertThat(documents.push("a", "z")).isEqualTo(502);
        documents.edit("a", document -> document.trimTo(501));
        assertThat(documents.read("a")).containsExactly("y", "z");
        documents.reopen();
        assertThat(documents.found("a").firstSequence()).isEqualTo(501);
        assertThat(documents.found("a").nextSequence()).isEqualTo(503);
        assertThat(Objects.requireNonNull(documents.found("a").attributes().archived()))
                .isEqualTo(MARK);
        documents.edit("a", document -> document.trimTo(9_999));
        assertThat(documents.push("a", "!")).isEqualTo(503);

        documents.create("fork", Documents.fork("a", OptionalLong.of(504), "?"));
        assertThat(snapshot("fork")).containsExactly("503..505", "503:!", "504:?");
    }

    @Test
    void restoresEmptyDocumentToItsSequence() {
        restore("a", 9);

        assertThat(documents.found("a").firstSequence()).isEqualTo(9);
        assertThat(documents.push("a", "x")).isEqualTo(9);
    }

    @Test
    void restoreRejectsExistingDocument() {
        documents.push("a", "1");

        Documents.rejected(Reason.EXISTS, () -> restore("a", 0, "x"));
        assertThat(documents.read("a")).containsExactly("1");
    }

    private void hidden(String name) {
        Documents.rejected(Reason.RESTORING, () -> documents.find(name));
        assertThatThrownBy(() -> documents.push(name, "1")).hasMessageContaining("being restored");
        assertThatThrownBy(() -> documents.delete(name)).hasMessageContaining("being restored");
        assertThat(documents.service().stripe(stripeOf(name))).isEmpty();
        assertThat(snapshot(name)).containsExactly("missing");
    }

    private int stripeOf(String name) {
        for (int stripe = 0; stripe < DocumentService.STRIPES; stripe++) {
            if (documents.service().stripe(stripe).stream()
                    .anyMatch(found -> found.name().equals(name(name)))) {
                return stripe;
            }
        }
        return 0;
    }

    @Test
    void restoredDocumentIsHiddenUntilComplete() {
        DocumentRestoration restoration = new DocumentRestoration(documents.service(), name("a"), 7, false);
        hidden("a");
        restoration.append(values("x"));
        restoration.append(values("y"));
        hidden("a");
        restoration.finish(Attributes.EMPTY.with("content-type", new byte[] {'t'}), MARK);

        assertThat(snapshot("a")).containsExactly("7..9", "7:x", "8:y");
        assertThat(documents.found("a").attributes().contentType()).isEqualTo("t");
    }

    @Test
    void restartDiscardsIncompleteRestore() {
        DocumentRestoration restoration = new DocumentRestoration(documents.service(), name("a"), 7, false);
        restoration.append(values("x"));
        documents.reopen();

        assertThat(documents.find("a")).isNull();
        assertThat(documents.push("a", "1")).isZero();
        assertThat(documents.read("a")).containsExactly("1");
    }

    @Test
    void abortDiscardsRestore() {
        DocumentRestoration restoration = new DocumentRestoration(documents.service(), name("a"), 7, false);
        restoration.append(values("x"));
        restoration.abort();

        assertThatThrownBy(() -> restoration.append(values("y"))).hasMessageContaining("no longer being restored");
        assertThat(documents.find("a")).isNull();
        assertThat(documents.service().pendingDeletions()).isEmpty();
    }

    @Test
    void storeLocalAttributesAreNotArchived() {
        documents.push("a", "1");
        ForkPoint point = new ForkPoint(name("a"), OptionalLong.empty(), 0);
        documents.create("b", Documents.fork(point, OptionalLong.of(100)));
        restore("c", 5, "x");

        assertThat(documents.found("a").attributes().portable().asMap()).isEmpty();
        assertThat(documents.found("b").attributes().portable().asMap()).containsOnlyKeys("content-type", "ttl");
        assertThat(documents.found("c").attributes().portable().asMap()).isEmpty();
    }

    @Test
    void storeAdoptsIdentityOnlyIfItHasNone() {
        UUID identity = StoreIdentity.of(documents.store());
        assertThat(StoreIdentity.of(documents.store())).isEqualTo(identity);
        assertThatThrownBy(() -> StoreIdentity.adopt(documents.store(), UUID.randomUUID()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(identity.toString());

        try (ListStore empty = ListStore.inMemory()) {
            StoreIdentity.adopt(empty, identity);
            assertThat(StoreIdentity.of(empty)).isEqualTo(identity);
            StoreIdentity.adopt(empty, identity);
        }
    }

    /** Cold documents whose fetches complete when the test calls {@link #deliver}. */
    private final class Shelf implements ColdDocuments {
        private final Deque<Outcome<DocumentName>> waiting = new ArrayDeque<>();
        private boolean known;

        @Override
        public boolean mayHave(DocumentName name) {
            return !known;
        }

        @Override
        public boolean fetching(DocumentName name) {
            return !waiting.isEmpty();
        }

        @Override
        public void fetch(DocumentName name, Outcome<DocumentName> outcome) {
            waiting.add(outcome);
        }

        /** Completes all fetches in order, including those that are requested during this call. */
        void deliver() {
            known = true;
            while (!waiting.isEmpty()) {
                waiting.element().success(name("a"));
                waiting.remove();
            }
        }
    }

    private void append(String value, List<Long> sequences) {
        documents.service().write(name("a"), document -> document.append(values(value)), new Outcome<Long>() {
            @Override
            public void success(Long sequence) {
                sequences.add(sequence);
            }

            @Override
            public void failure(RuntimeException problem) {
                throw problem;
            }
        });
    }

    @Test
    void writesToColdDocumentWaitInOrder() {
        Shelf shelf = new Shelf();
        documents.service().coldDocuments(shelf);
        List<Long> sequences = new ArrayList<>();
        append("x", sequences);
        append("y", sequences);
        assertThat(sequences).isEmpty();

        documents.editLocal("a", document -> document.restore(Attributes.EMPTY, MARK, 10, values("old")));
        append("z", sequences);
        assertThat(sequences).as("it is there, but others wait before this one").isEmpty();
        shelf.deliver();
        documents.service().store().flush();

        assertThat(documents.read("a")).containsExactly("old", "x", "y", "z");
        assertThat(sequences).containsExactly(11L, 12L, 13L);
    }

    /** Holds back the next callback while {@code holding} is set. */
    private static final class LateStore extends ForwardingListStore {
        private boolean holding;
        private Runnable late = () -> {};

        LateStore() {
            super(ListStore.inMemory());
        }

        @Override
        public boolean tryWrite(WriteBatch batch, WriteCallback callback) {
            if (!holding) {
                return super.tryWrite(batch, callback);
            }
            holding = false;
            return super.tryWrite(batch, new WriteCallback() {
                @Override
                public void success(long last) {
                    late = () -> callback.success(last);
                }

                @Override
                public void failure(CaravanException problem) {
                    callback.failure(problem);
                }
            });
        }
    }

    /** Tests that the order of the records counts, not the order in which they become durable. */
    @Test
    void recordStaysWhenLaterDeletionIsDurableFirst() {
        LateStore store = new LateStore();
        try (Documents late = new Documents(store)) {
            archive(late, "x");
            archive(late, "a");
            archive(late, "b");
            late.delete("x");
            store.holding = true;
            CompletableFuture<Boolean> slow = delete(late, "a");
            assertThat(slow).isNotDone();
            late.delete("b");
            store.late.run();
            assertThat(slow).isDone();
            DeletionRecord x = late.service().pendingDeletions(name("x")).get(0);
            late.service().deletionArchived(x);
            late.reopen();
            assertThat(late.service().pendingDeletions())
                    .extracting(DeletionRecord::name)
                    .containsExactlyInAnyOrder(name("a"), name("b"));
        }
    }
}
