package io.caravan.server.document;

import static io.caravan.server.document.Documents.expiring;
import static io.caravan.server.document.Documents.fork;
import static io.caravan.server.document.Documents.name;
import static io.caravan.server.document.Documents.rejected;
import static io.caravan.server.document.Documents.values;
import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import io.caravan.EntryStream;
import io.caravan.ListInfo;
import io.caravan.ListStore;
import io.caravan.NotWritableException;
import io.caravan.OutOfSpaceException;
import io.caravan.UninterruptibleThread;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.catalog.DocumentName;
import io.caravan.server.app.IgnoredOutcome;
import io.caravan.server.document.CreateRequest.ForkPoint;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.testing.Eventually;
import io.caravan.testing.ForwardingListStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class DocumentServiceTest {
    @AutoClose
    private final Documents documents = new Documents();

    private static CreateRequest forkOf(String source, OptionalLong at, long part) {
        return Documents.fork(new ForkPoint(name(source), at, part), OptionalLong.empty());
    }

    /** Returns a request for a fork that outlives its expiring source. */
    private static CreateRequest living(String source) {
        return Documents.fork(new ForkPoint(name(source), OptionalLong.empty(), 0), OptionalLong.of(100), "b");
    }

    private static AppendRequest addition(@Nullable String streamSeq, @Nullable Producer producer) {
        return new AppendRequest(name("d"), values("x"), false, null, streamSeq, producer, OptionalLong.empty());
    }

    /** A write to many documents must find them quickly, because it locks all of them. A linear search took minutes. */
    @Test
    @Timeout(20)
    void writeFindsManyNamesQuickly() {
        List<DocumentName> names = IntStream.range(0, 300_000)
                .mapToObj(number -> name("d" + number))
                .toList();
        long found = documents.<Long>change(
                names,
                edits -> names.stream()
                        .filter(name -> edits.document(name).info() != null)
                        .count());
        assertThat(found).isZero();
    }

    @Test
    void expiryDeletesDocumentAndValues() {
        documents.create("d", expiring(OptionalLong.empty(), OptionalLong.of(documents.nowMillis() + 1000)));
        documents.pass(Duration.ofMillis(999));
        assertThat(documents.read("d")).containsExactly("a");
        documents.pass(Duration.ofMillis(1));
        assertThat(documents.find("d")).isNull();
        assertThat(documents.service().scan(0, Integer.MAX_VALUE).documents()).isEmpty();
        assertThat(documents.push("d", "new")).isZero();
        assertThat(documents.read("d")).containsExactly("new");
    }

    @Test
    void clockChangeDoesNotShiftSlidingExpiry() {
        documents.create("d", expiring(OptionalLong.of(10), OptionalLong.empty()));
        documents.setClock(Duration.ofHours(1));
        assertThat(documents.read("d")).containsExactly("a");
        documents.setClock(Duration.ofHours(-2));
        documents.pass(Duration.ofSeconds(9));
        assertThat(documents.find("d")).isNotNull();
        documents.pass(Duration.ofSeconds(1));
        assertThat(documents.find("d")).isNull();
    }

    /** A reader may see a new document as soon as the store has accepted it. */
    @Test
    void newDocumentIsInUseBeforeItIsVisible() {
        DocumentAttributes expires = DocumentAttributes.NONE.withTtlSeconds(9);
        AtomicReference<Expiry> expiry = new AtomicReference<>();
        List<Boolean> expired = new ArrayList<>();
        ListStore store = new ForwardingListStore(ListStore.inMemory()) {
            @Override
            public void write(WriteBatch batch, WriteCallback callback) {
                long id = batch.operations().get(0).id();
                expired.add(expiry.get().expired(new DocumentInfo(id, 0, 0, expires)));
                if (expired.size() == 1) {
                    throw new OutOfSpaceException("the disk is full");
                }
                super.write(batch, callback);
            }
        };
        CreateRequest create = expiring(OptionalLong.of(9), OptionalLong.empty());
        try (Documents here = new Documents(store)) {
            expiry.set(here.service().expiry);
            here.pass(Duration.ofHours(1));
            assertThatThrownBy(() -> here.create("d", create)).isInstanceOf(OutOfSpaceException.class);
            here.create("d", create);
            assertThat(here.read("d")).containsExactly("a");
            assertThat(here.service().expiry).extracting("lastUse", as(MAP)).hasSize(1);
        }
        assertThat(expired).containsExactly(false, false);
    }

    /** Returns a store whose disk is full as long as the flag is set. */
    private static ListStore fullWhen(AtomicBoolean full) {
        return new ForwardingListStore(ListStore.inMemory()) {
            @Override
            public void write(WriteBatch batch, WriteCallback callback) {
                if (full.get()) {
                    throw new OutOfSpaceException("the disk is full");
                }
                super.write(batch, callback);
            }
        };
    }

    @Test
    void rejectionOfAppendIsReportedToOutcomeAndStatus() {
        AtomicBoolean full = new AtomicBoolean();
        try (Documents here = new Documents(fullWhen(full))) {
            here.push("d", "a");
            full.set(true);
            CompletableFuture<Long> outcome = new CompletableFuture<>();
            boolean decided = here.service()
                    .write(
                            Set.of(name("d")),
                            Append.of(name("d"), values("b"), DocumentInfo::count),
                            Outcome.of(outcome::complete, outcome::completeExceptionally));
            assertThat(decided).isTrue();
            assertThat(outcome).isCompletedExceptionally();
            assertThat(here.service().problem()).isInstanceOf(OutOfSpaceException.class);
            full.set(false);
            assertThat(here.push("d", "c")).isEqualTo(1);
        }
    }

    @Test
    void appendMustHaveContentTypeOfDocument() {
        documents.create("d", "application/json", "1");
        rejected(Reason.CONTENT_TYPE_MISMATCH, () -> documents.add(ofType("text/plain")));
        assertThat(documents
                        .add(ofType("application/json; charset=utf-8"))
                        .info()
                        .nextSequence())
                .isEqualTo(2);
    }

    private static AppendRequest ofType(String type) {
        return new AppendRequest(name("d"), values("2"), false, type, null, null, OptionalLong.empty());
    }

    @Test
    void rejectedWriteIsNoUse() {
        AtomicBoolean full = new AtomicBoolean();
        try (Documents here = new Documents(fullWhen(full))) {
            here.create("d", expiring(OptionalLong.of(9), OptionalLong.empty()));
            here.pass(Duration.ofSeconds(6));
            full.set(true);
            assertThatThrownBy(() -> here.push("d", "b")).isInstanceOf(OutOfSpaceException.class);
            here.pass(Duration.ofSeconds(2));
            assertThat(here.service().expiry).extracting("lastUse", as(MAP)).hasSize(1);
            here.pass(Duration.ofSeconds(1));
            assertThat(here.find("d")).isNull();
        }
    }

    private static Prefetch preparation() {
        return new Prefetch(1024 * 1024);
    }

    @Test
    void longJsonIsParsedBeforeWrite() throws Exception {
        documents.create("j", "application/json");
        byte[] text = ("[" + "1,".repeat(10_000) + "1]").getBytes(StandardCharsets.UTF_8);
        byte[] wrong = ("[" + "1,".repeat(10_000)).getBytes(StandardCharsets.UTF_8);
        assertThat(appendPrepared("j", List.of(text))).isEqualTo(0L);
        rejected(Reason.NOT_JSON, () -> appendPrepared("j", List.of(text, wrong)));
        assertThat(documents.find("j").count()).isEqualTo(1);
    }

    private long appendPrepared(String name, List<byte[]> values) throws InterruptedException {
        DocumentService service = documents.service();
        Prefetch preparation = preparation();
        Set<DocumentName> names = Set.of(name(name));
        Function<DocumentEdits, Long> change =
                edits -> edits.document(name(name)).append(values);
        AtomicReference<@Nullable Throwable> rejection = new AtomicReference<>();
        Thread loop = new UninterruptibleThread(
                () -> rejection.set(
                        catchThrowable(() -> service.write(names, change, preparation, new IgnoredOutcome<>()))),
                "event-loop");
        loop.start();
        loop.join();
        assertThat(rejection.get()).isInstanceOf(Prefetch.UnpreparedException.class);
        return Outcome.<Long>await(outcome -> service.writeWaiting(names, change, preparation, outcome));
    }

    /** Many reads of one long value each must not take more memory than the limit. */
    @Test
    void valuesOfAllReadsTogetherAreLimited() {
        List<DocumentName> names = List.of(name("a"), name("b"));
        names.forEach(each -> documents.push(each.toString(), "x".repeat(100)));
        Function<DocumentEdits, Long> change = edits -> names.stream()
                .mapToLong(each ->
                        edits.document(each).values(new SequenceRange(0, 1)).size())
                .sum();
        assertThat(Outcome.<Long>await(
                        outcome -> documents.service().writeWaiting(names, change, new Prefetch(300), outcome)))
                .isEqualTo(2);
        assertThatThrownBy(() -> Outcome.<Long>await(
                        outcome -> documents.service().writeWaiting(names, change, new Prefetch(200), outcome)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("more than 200 bytes");
    }

    /** A write that reads a document must complete even if another writer appends during every read. */
    @Test
    void readingWriteIsNotStarved() {
        AtomicInteger reads = new AtomicInteger();
        AtomicBoolean busy = new AtomicBoolean();
        try (Documents others = new Documents(new ForwardingListStore(ListStore.inMemory()) {
            @Override
            public void get(long id, long fromSequence, EntryStream stream) {
                super.get(id, fromSequence, stream);
                if (busy.get()) {
                    // Stops the other writer after 50 reads, so that the test ends even if the write never succeeds.
                    busy.set(reads.incrementAndGet() < 50);
                    between.run();
                }
            }
        })) {
            between = () -> others.service()
                    .write(
                            Set.of(name("k")),
                            Append.of(name("k"), values("late"), DocumentInfo::count),
                            new IgnoredOutcome<>());
            others.push("k", "a");
            busy.set(true);
            Set<DocumentName> names = Set.of(name("k"));
            List<byte[]> drained = Outcome.<List<byte[]>>await(outcome -> others.service()
                    .writeWaiting(names, edits -> drain(edits.document(name("k"))), preparation(), outcome));
            busy.set(false);
            assertThat(reads.get()).isLessThan(10);
            int seen = drained.size();
            assertThat(seen).isGreaterThan(1);
            assertThat(others.read("k")).hasSize(1 + reads.get() - seen).containsOnly("late");
        }
    }

    /** A thread that serves reads must not wait for space on behalf of a write that it has delayed. */
    @Test
    void deferredWriteDoesNotWaitForSpaceOnReaderThread() throws Exception {
        AtomicBoolean full = new AtomicBoolean();
        AtomicReference<Runnable> onWritable = new AtomicReference<>(() -> {});
        AtomicReference<CompletableFuture<Long>> late = new AtomicReference<>();
        try (Documents others = new Documents(new ForwardingListStore(ListStore.inMemory()) {
            @Override
            public void get(long id, long fromSequence, EntryStream stream) {
                super.get(id, fromSequence, stream);
                between.run();
            }

            @Override
            public boolean tryWrite(WriteBatch batch, WriteCallback callback) {
                return !full.get() && super.tryWrite(batch, callback);
            }

            @Override
            public void onWritable(Runnable action) {
                if (full.get()) {
                    onWritable.set(action);
                } else {
                    action.run();
                }
            }
        })) {
            DocumentService service = others.service();
            others.push("k", "a");
            between = () -> {
                CompletableFuture<Long> outcome = new CompletableFuture<>();
                late.set(outcome);
                // The write is deferred once the reading write has reserved the name.
                full.set(!service.write(
                        name("k"),
                        document -> document.append(values("late")),
                        Outcome.of(outcome::complete, outcome::completeExceptionally)));
            };
            CompletableFuture<@Nullable Throwable> problem = new CompletableFuture<>();
            Runnable reading = () -> service.writeWaiting(
                    Set.of(name("k")),
                    edits -> drain(edits.document(name("k"))),
                    preparation(),
                    new IgnoredOutcome<>());
            new ReaderThread.Factory()
                    .newThread(() -> problem.complete(catchThrowable(reading::run)))
                    .start();
            assertThat(problem).succeedsWithin(Duration.ofSeconds(20)).isInstanceOf(NotWritableException.class);
            assertThat(late.get()).isNotDone();
            between = () -> {};
            full.set(false);
            onWritable.get().run();
            assertThat(late.get()).succeedsWithin(Duration.ofSeconds(20));
            assertThat(others.read("k")).contains("a", "late");
        }
    }

    private Runnable between = () -> {};

    private static List<byte[]> drain(EditedDocument document) {
        DocumentInfo info = Objects.requireNonNull(document.info());
        List<byte[]> values = document.values(new SequenceRange(info.firstSequence(), info.nextSequence()));
        document.delete();
        return values;
    }

    @Test
    void onlyReadsAndWritesExtendSlidingExpiry() {
        documents.create("d", expiring(OptionalLong.of(10), OptionalLong.empty()));
        documents.pass(Duration.ofSeconds(9));
        assertThat(documents.read("d")).hasSize(1);
        documents.pass(Duration.ofSeconds(9));
        documents.push("d", "b");
        documents.pass(Duration.ofSeconds(9));
        assertThat(documents.find("d")).isNotNull();
        documents.pass(Duration.ofSeconds(1));
        assertThat(documents.find("d")).isNull();
    }

    @Test
    void restartExtendsOnlySlidingExpiry() {
        documents.create("sliding", expiring(OptionalLong.of(10), OptionalLong.empty()));
        documents.create("moment", expiring(OptionalLong.empty(), OptionalLong.of(documents.nowMillis() + 10_000)));
        documents.pass(Duration.ofSeconds(9));
        documents.reopen();
        documents.pass(Duration.ofSeconds(9));
        assertThat(documents.find("sliding")).isNotNull();
        assertThat(documents.find("moment")).isNull();
    }

    @Test
    void closedOrDeletedDocumentRejectsAppends() {
        documents.push("closed", "a");
        documents.add(new AppendRequest(name("closed"), values("b"), true, null, null, null, OptionalLong.empty()));
        rejected(Reason.CLOSED, () -> documents.push("closed", "c"));
        rejected(
                Reason.CLOSED,
                () -> documents.add(
                        new AppendRequest(name("closed"), values("c"), false, null, null, null, OptionalLong.empty())));
        assertThat(documents.read("closed")).containsExactly("a", "b");

        documents.push("deleted", "a");
        documents.create("fork", fork("deleted", OptionalLong.empty()));
        documents.delete("deleted");
        rejected(Reason.GONE, () -> documents.push("deleted", "b"));
        assertThat(documents.read("fork")).containsExactly("a");
    }

    @Test
    void sweeperDeletesExpiredDocument() {
        documents.create("d", expiring(OptionalLong.empty(), OptionalLong.of(documents.nowMillis() + 1)));
        documents.push("stays", "a");
        documents.pass(Duration.ofSeconds(1));
        documents.awaitSweptTo(1);
    }

    @Test
    void expiredDocumentIsKeptForItsForks() {
        documents.create("source", expiring(OptionalLong.of(10), OptionalLong.empty()));
        documents.create("fork", living("source"));
        documents.pass(Duration.ofSeconds(20));
        assertThat(documents.find("source")).isNull();
        rejected(Reason.GONE, () -> documents.push("source", "new"));
        assertThat(documents.read("fork")).containsExactly("a", "b");
        assertThat(documents.delete("fork")).isTrue();
        assertThat(documents.service().documents()).isZero();
        assertThat(documents.push("source", "new")).isZero();
    }

    @Test
    void jsonDocumentAcceptsOnlyOneJsonTextPerValue() {
        documents.create("d", "application/json; charset=utf-8");
        assertThat(documents.push("d", "{\"a\": [1, 2.50]}", "\"x\"", " null ")).isZero();
        for (String bad : List.of("", "{", "nul", "1 2", "{\"a\":1}x", "\"\n\"", "[".repeat(600) + "]".repeat(600))) {
            rejected(Reason.NOT_JSON, () -> documents.push("d", "1", bad));
            assertThatThrownBy(() -> documents.push("d", bad)).hasMessageNotContainingAny("REDACTED", "Source");
        }
        assertThat(documents.read("d")).containsExactly("{\"a\": [1, 2.50]}", "\"x\"", " null ");
    }

    private static List<byte[]> split(byte[] body) {
        List<byte[]> messages = new ArrayList<>();
        JsonMessages.forEach(name("d"), body, messages::add);
        return messages;
    }

    @Test
    void splitsJsonArrayIntoElementBytes() {
        assertThat(split(" [ {\"b\" : 1.0e5 , \"a\":[1]} ,\"\\u00e4\u00e4\", [ [] ] , -1.50,true ] "
                        .getBytes(StandardCharsets.UTF_8)))
                .extracting(bytes -> new String(bytes, StandardCharsets.UTF_8))
                .containsExactly("{\"b\" : 1.0e5 , \"a\":[1]}", "\"\\u00e4\u00e4\"", "[ [] ]", "-1.50", "true");
        assertThat(split("12 ".getBytes(StandardCharsets.UTF_8)))
                .extracting(String::new)
                .containsExactly("12");
        assertThat(split(new byte[] {'[', ']'})).isEmpty();
        for (String bad : List.of("", " ", "[1", "[1,]", "[1] 2", "[1}", "{]", "1,2", "[\"\\x\"]")) {
            rejected(Reason.NOT_JSON, () -> split(bad.getBytes(StandardCharsets.UTF_8)));
        }
    }

    @Test
    void streamSeqMustIncreaseInByteOrder() {
        documents.create("d", "text/plain");
        documents.add(addition("09", null));
        documents.add(addition("10", null));
        rejected(Reason.STREAM_SEQ_REGRESSION, () -> documents.add(addition("10", null)));
        rejected(Reason.STREAM_SEQ_REGRESSION, () -> documents.add(addition("1", null)));
        documents.add(addition("a", null));
        rejected(Reason.STREAM_SEQ_REGRESSION, () -> documents.add(addition("B", null)));
        documents.reopen();
        rejected(Reason.STREAM_SEQ_REGRESSION, () -> documents.add(addition("Z", null)));
        documents.add(addition("\u00e4", null));
        assertThat(documents.read("d")).hasSize(4);
    }

    @Test
    void keepsOnlyLatestProducers() {
        documents.create("d", "text/plain");
        for (int i = 0; i < 1000; i++) {
            documents.add(addition(null, new Producer("producer-" + i, 0, 0)));
        }
        documents.reopen();
        assertThat(documents
                        .add(addition(null, new Producer("producer-999", 0, 0)))
                        .repeated())
                .isTrue();
        rejected(Reason.PRODUCER_GAP, () -> documents.add(addition(null, new Producer("producer-0", 0, 1))));
        assertThat(documents.read("d")).hasSize(1000);
    }

    @Test
    void forkPointCountsJsonMessagesOrBytes() {
        documents.create("json", "application/json", "1", "2", "3");
        documents.create("fork", forkOf("json", OptionalLong.of(1), 1));
        assertThat(documents.read("fork")).containsExactly("1", "2");
        rejected(Reason.FORK_POINT, () -> documents.create("x", forkOf("json", OptionalLong.of(1), 3)));
        documents.create("bytes", "text/plain", "hello", "world");
        documents.create("part", forkOf("bytes", OptionalLong.of(1), 3));
        assertThat(documents.read("part")).containsExactly("hello", "wor");
        rejected(Reason.FORK_POINT, () -> documents.create("x", forkOf("bytes", OptionalLong.of(1), 6)));
        rejected(Reason.FORK_POINT, () -> documents.create("x", forkOf("bytes", OptionalLong.of(2), 1)));
        assertThat(documents.find("x")).isNull();
        assertThat(documents.delete("bytes")).isTrue();
        assertThat(documents.read("part")).containsExactly("hello", "wor");
    }

    @Test
    void forkChainIsReadableUpToMaximumDepth() {
        documents.create("f0", "text/plain", "v0");
        for (int i = 1; i <= CreateRequest.MAX_FORK_DEPTH; i++) {
            documents.create("f" + i, forkOf("f" + (i - 1), OptionalLong.empty(), 0));
            documents.push("f" + i, "v" + i);
            documents.delete("f" + (i - 1));
        }
        String last = "f" + CreateRequest.MAX_FORK_DEPTH;
        assertThat(documents.read(last))
                .hasSize(CreateRequest.MAX_FORK_DEPTH + 1)
                .startsWith("v0", "v1", "v2");
        rejected(Reason.FORK_POINT, () -> documents.create("deeper", forkOf(last, OptionalLong.empty(), 0)));
        assertThat(documents.delete(last)).isTrue();
        assertThat(documents.service().documents()).isZero();
    }

    @Test
    void openSubscriptionIsNotifiedOnce() {
        AtomicInteger notifications = new AtomicInteger();
        documents.service().onChange(name("d"), notifications::incrementAndGet);
        documents.push("other", "a");
        assertThat(notifications).hasValue(0);
        documents.push("d", "a");
        documents.push("d", "b");
        notifications(1, notifications);
        documents.service().onChange(name("d"), notifications::incrementAndGet);
        documents.add(new AppendRequest(name("d"), List.of(), true, null, null, null, OptionalLong.empty()));
        notifications(2, notifications);
        documents.service().onChange(name("d"), notifications::incrementAndGet).run();
        assertThat(documents.service().tailedDocuments()).isZero();
        documents.delete("d");
        assertThat(notifications).hasValue(2);
    }

    @Test
    void allSubscribersAreNotifiedEvenIfOneThrows() {
        AtomicInteger notifications = new AtomicInteger();
        for (int i = 0; i < 10; i++) {
            documents.service().onChange(name("d"), () -> {
                notifications.incrementAndGet();
                throw new IllegalStateException("failed to handle the change");
            });
        }
        documents.push("d", "a");
        notifications(10, notifications);
    }

    /** Waits for this number of notifications, which may arrive shortly after the writer has received its outcome. */
    private static void notifications(int times, AtomicInteger notifications) {
        Eventually.await(times + " notifications", () -> notifications.get() == times);
    }

    @Test
    void concurrentlyDeletedDocumentIsNotFound() {
        AtomicReference<Runnable> concurrentWrite = new AtomicReference<>(() -> {});
        ListStore store = new ForwardingListStore(ListStore.inMemory()) {
            @Override
            public ListInfo info(long id) {
                concurrentWrite.getAndSet(() -> {}).run();
                return super.info(id);
            }
        };
        try (Documents racing = new Documents(store)) {
            racing.push("d", "a");
            concurrentWrite.set(() -> racing.delete("d"));
            assertThat(racing.find("d")).isNull();
        }
    }

    @Test
    void concurrentlyDeletedForkIgnoresRecreatedSource() {
        AtomicReference<Runnable> concurrentWrite = new AtomicReference<>(() -> {});
        ListStore store = new ForwardingListStore(ListStore.inMemory()) {
            @Override
            public ListInfo info(long id) {
                ListInfo info = super.info(id);
                concurrentWrite.getAndSet(() -> {}).run();
                return info;
            }
        };
        try (Documents racing = new Documents(store)) {
            racing.push("source", "a", "b");
            racing.create("fork", living("source"));
            concurrentWrite.set(() -> {
                racing.delete("fork");
                racing.delete("source");
                racing.push("source", "another", "one");
            });
            assertThat(racing.read("fork")).isEmpty();
        }
    }

    @Test
    void deletesManyForksInOneAttempt() {
        int count = 300;
        for (int i = 0; i < count; i++) {
            documents.create("source" + i, "text/plain", "a");
            documents.create("fork" + i, forkOf("source" + i, OptionalLong.empty(), 0));
            documents.delete("source" + i);
        }
        List<DocumentName> forks =
                IntStream.range(0, count).mapToObj(i -> name("fork" + i)).toList();
        AtomicInteger attempts = new AtomicInteger();
        documents.change(forks, edits -> {
            forks.forEach(fork -> edits.document(fork).delete());
            return attempts.incrementAndGet();
        });
        assertThat(attempts).hasValue(1);
        assertThat(documents.service().documents()).isZero();
    }

    @Test
    void documentKeptForForksIsNotSweptRepeatedly() {
        documents.create("source", expiring(OptionalLong.empty(), OptionalLong.of(documents.nowMillis() + 1)));
        documents.create("fork", living("source"));
        documents.delete("source");
        documents.pass(Duration.ofSeconds(1));
        long trims = documents.store().stats().trims();
        documents.awaitSweep();
        assertThat(documents.store().stats().trims()).isEqualTo(trims);
    }

    @Test
    void forkingDoesNotExtendSlidingExpiry() {
        documents.create("d", expiring(OptionalLong.of(10), OptionalLong.empty()));
        documents.pass(Duration.ofSeconds(9));
        documents.create("fork", forkOf("d", OptionalLong.empty(), 0));
        documents.pass(Duration.ofSeconds(1));
        assertThat(documents.find("d")).isNull();
    }
}
