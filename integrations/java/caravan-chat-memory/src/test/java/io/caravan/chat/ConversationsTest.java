package io.caravan.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.DurableListStore;
import io.caravan.FlushPolicy;
import io.caravan.ListStore;
import io.caravan.StoreClosedException;
import io.caravan.StoreConfig;
import io.caravan.ValueTooLargeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConversationsTest {
    private static final String SYSTEM = "{\"system\":true}";

    @TempDir
    Path work;

    private DurableListStore store;
    private Conversations conversations;

    @BeforeEach
    void open() {
        store = DurableListStore.open(StoreConfig.builder(work.resolve("store"))
                .maxValueBytes(64 * 1024)
                .logSegmentBytes(8 << 20)
                .heapSegmentBytes(1 << 20)
                .build());
        conversations = Conversations.of(store, "test/");
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void reopen() {
        close();
        open();
    }

    private static String message(int number) {
        return "{\"message\":" + number + "}";
    }

    /** Returns {@code first}, followed by the messages {@code from} (inclusive) to {@code to} (exclusive). */
    private static List<String> window(int from, int to, String... first) {
        List<String> messages = new ArrayList<>(List.of(first));
        IntStream.range(from, to).mapToObj(ConversationsTest::message).forEach(messages::add);
        return messages;
    }

    /** Returns the number of values that the action appends to lists other than the catalog. */
    private long appended(Runnable action) {
        long before = store.stats().appends();
        action.run();
        return store.stats().appends() - before;
    }

    @Test
    void replacedMessagesSurviveReopen() {
        conversations.replace("a", window(0, 3));
        conversations.replace("b", window(7, 8));

        assertThat(conversations.messages("a")).isEqualTo(window(0, 3));
        reopen();
        assertThat(conversations.messages("a")).isEqualTo(window(0, 3));
        assertThat(conversations.messages("b")).isEqualTo(window(7, 8));
        assertThat(conversations.messages("c")).isEmpty();
        assertThat(conversations.names()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void movingWindowWritesOnlyNewMessages() {
        conversations.replace("a", window(0, 10));

        assertThat(appended(() -> {
                    for (int i = 1; i <= 50; i++) {
                        conversations.replace("a", window(i, 10 + i));
                    }
                }))
                .isEqualTo(50);
        assertThat(conversations.messages("a")).isEqualTo(window(50, 60));
        assertThat(store.read(1)).hasSize(10);
    }

    @Test
    void doesNotRewriteExistingMessages() {
        conversations.replace("a", window(0, 10));

        assertThat(appended(() -> conversations.replace("a", window(0, 10)))).isZero();
        assertThat(appended(() -> conversations.replace("a", window(4, 10)))).isZero();
        assertThat(conversations.messages("a")).isEqualTo(window(4, 10));
    }

    @Test
    void rewritesFixedFirstMessageOncePerWindow() {
        conversations.replace("a", window(0, 10, SYSTEM));

        long written = appended(() -> {
            for (int i = 1; i <= 50; i++) {
                conversations.replace("a", window(i, 10 + i, SYSTEM));
                assertThat(conversations.messages("a")).isEqualTo(window(i, 10 + i, SYSTEM));
            }
        });

        assertThat(written).isBetween(50 + 4L, 50 + 6L);
        reopen();
        assertThat(conversations.messages("a")).isEqualTo(window(50, 60, SYSTEM));
    }

    @Test
    void replacedOrRemovedFirstMessageIsNotReturned() {
        conversations.replace("a", window(0, 5, SYSTEM));
        conversations.replace("a", window(1, 6, SYSTEM));

        conversations.replace("a", window(1, 6, "{\"other\":1}"));
        assertThat(conversations.messages("a")).isEqualTo(window(1, 6, "{\"other\":1}"));

        conversations.replace("a", window(1, 7));
        assertThat(conversations.messages("a")).isEqualTo(window(1, 7));
    }

    @Test
    void distinguishesEqualMessagesByPosition() {
        List<String> same = new ArrayList<>(List.of(SYSTEM, SYSTEM, SYSTEM));
        conversations.replace("a", same);
        same.add(SYSTEM);

        assertThat(appended(() -> conversations.replace("a", same))).isEqualTo(1);
        assertThat(conversations.messages("a")).isEqualTo(same);
    }

    /** Conversations must match a model after random changes and after restarts. */
    @Test
    void conversationsMatchModel() {
        long seed = Long.getLong("caravan.seed", System.nanoTime());
        Random random = new Random(seed);
        Map<String, List<String>> model = new HashMap<>();
        for (int step = 0; step < 3000; step++) {
            String name = "c" + random.nextInt(4);
            List<String> messages = new ArrayList<>(model.getOrDefault(name, List.of()));
            change(messages, random);
            conversations.replace(name, messages);
            if (messages.isEmpty()) {
                model.remove(name);
            } else {
                model.put(name, messages);
            }
            if (random.nextInt(500) == 0) {
                reopen();
            }
            assertThat(conversations.messages(name))
                    .as("-Dcaravan.seed=%d, step %d", seed, step)
                    .isEqualTo(messages);
        }
        assertThat(conversations.names())
                .as("-Dcaravan.seed=%d", seed)
                .containsExactlyInAnyOrderElementsOf(model.keySet());
    }

    /**
     * Changes the messages as chat memories do, and in other ways. Selects from few messages, so that many are equal.
     */
    private static void change(List<String> messages, Random random) {
        switch (random.nextInt(12)) {
            case 0 -> messages.clear();
            case 1 -> messages.add(0, message(random.nextInt(3)));
            case 2 -> messages.add(random.nextInt(messages.size() + 1), message(random.nextInt(3)));
            case 3 -> {
                if (!messages.isEmpty()) {
                    messages.set(random.nextInt(messages.size()), message(random.nextInt(3)));
                }
            }
            default -> {
                messages.add(message(random.nextInt(5)));
                while (messages.size() > 6) {
                    messages.remove(random.nextInt(2));
                }
            }
        }
    }

    @Test
    void emptyConversationIsNotListed() {
        conversations.replace("a", window(0, 2));

        conversations.replace("a", List.of());
        conversations.replace("b", List.of());

        assertThat(conversations.names()).isEmpty();
        assertThat(conversations.messages("a")).isEmpty();
        conversations.replace("a", window(5, 6));
        assertThat(conversations.messages("a")).isEqualTo(window(5, 6));
    }

    @Test
    void deletesConversation() {
        conversations.replace("a", window(0, 2));

        conversations.delete("a");
        conversations.delete("b");

        reopen();
        assertThat(conversations.names()).isEmpty();
        assertThat(conversations.messages("a")).isEmpty();
    }

    @Test
    void prefixesSeparateConversations() {
        Conversations others = Conversations.of(store, "others/");
        conversations.replace("a", window(0, 2));
        others.replace("a", window(5, 6));
        others.replace("b", window(6, 7));

        assertThat(conversations.names()).containsExactly("a");
        assertThat(conversations.messages("a")).isEqualTo(window(0, 2));
        assertThat(others.names()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void rejectsMessageOverLimitAndChangesNothing() {
        conversations.replace("a", window(0, 2));
        List<String> tooLarge = List.of(message(5), "\"" + "x".repeat(64 * 1024) + "\"");

        assertThatThrownBy(() -> conversations.replace("a", tooLarge))
                .isInstanceOf(ValueTooLargeException.class)
                .hasMessageContaining("65538 bytes is over the limit of 65536 bytes; see StoreConfig.maxValueBytes");
        assertThatThrownBy(() -> conversations.replace("b", tooLarge)).isInstanceOf(ValueTooLargeException.class);

        assertThat(conversations.messages("a")).isEqualTo(window(0, 2));
        assertThat(conversations.names()).containsExactly("a");
        conversations.replace("a", window(0, 3));
        assertThat(conversations.messages("a")).isEqualTo(window(0, 3));
    }

    @Test
    void rejectsInvalidNamesAndMessages() {
        assertThatIllegalArgumentException().isThrownBy(() -> conversations.messages(""));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> conversations.messages("half a character: \ud83d"))
                .withMessageContaining("must be Unicode");
        conversations.replace("n".repeat(1019), window(0, 1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> conversations.messages("n".repeat(1020)))
                .withMessage("a conversation's name must have at most 1019 bytes of UTF-8, has 1020");
        assertThatIllegalArgumentException().isThrownBy(() -> conversations.replace("a", List.of("")));
        assertThatIllegalArgumentException().isThrownBy(() -> conversations.replace("a", List.of("\u001e{}")));
        assertThat(conversations.messages("a")).isEmpty();
    }

    @Test
    void acceptsUnicodeNames() {
        List<String> names = List.of("ünïcode", "\ud83d\ude00", "a/b", "\n", "test/");
        names.forEach(name -> conversations.replace(name, List.of("\"" + name.length() + " \ud83d\ude00\"")));

        reopen();

        assertThat(conversations.names()).containsExactlyInAnyOrderElementsOf(names);
        names.forEach(name ->
                assertThat(conversations.messages(name)).containsExactly("\"" + name.length() + " \ud83d\ude00\""));
    }

    @Test
    void rejectsStoreWithForeignListsUnlessIdsAreNegative() {
        try (ListStore other = ListStore.inMemory()) {
            other.append(-7, new byte[3]).join();
            Conversations.of(other, "test/").replace("a", window(0, 1));
        }
        try (ListStore other = ListStore.inMemory()) {
            other.append(7, new byte[3]).join();
            assertThatIllegalStateException()
                    .isThrownBy(() -> Conversations.of(other, "test/"))
                    .withMessageStartingWith("list 7 of the store is no conversation");
        }
    }

    /** A change must be in the files when the call returns. A copy of the files is the state after a process crash. */
    @Test
    void replaceAndDeleteWriteFilesBeforeReturning() throws IOException {
        StoreConfig slow = StoreConfig.builder(work.resolve("slow"))
                .logSegmentBytes(8 << 20)
                .flushPolicy(FlushPolicy.fixedDelay(Duration.ofMillis(300)))
                .build();
        try (DurableListStore slowly = DurableListStore.open(slow)) {
            Conversations later = Conversations.of(slowly, "test/");

            later.replace("a", window(0, 1));
            assertThat(namesInCopy(slow)).containsExactly("a");
            later.delete("a");
            assertThat(namesInCopy(slow)).isEmpty();
        }
    }

    private List<String> namesInCopy(StoreConfig config) throws IOException {
        Path copy = Files.createTempDirectory(work, "copy");
        try (Stream<Path> files = Files.list(config.directory())) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }
        try (DurableListStore copied = DurableListStore.open(config.withDirectory(copy))) {
            return Conversations.of(copied, "test/").names();
        }
    }

    @Test
    void throwsIfStoreIsClosed() {
        store.close();

        assertThatThrownBy(() -> conversations.replace("a", window(0, 1))).isInstanceOf(StoreClosedException.class);
        assertThatThrownBy(() -> conversations.names()).isInstanceOf(StoreClosedException.class);
    }

    /** Threads that use separate objects must not interfere. Each replaces its own conversation and a shared one. */
    @Test
    void threadsShareConversations() throws Exception {
        int threads = 4;
        int rounds = 100;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<?>> running = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int thread = t;
            running.add(pool.submit(() -> {
                Conversations mine = Conversations.of(store, "test/");
                for (int i = 0; i < rounds; i++) {
                    mine.replace("own " + thread, window(i, i + 5));
                    mine.replace("shared", window(1000 * thread + i, 1000 * thread + i + 5, SYSTEM));
                    assertThat(mine.messages("own " + thread)).isEqualTo(window(i, i + 5));
                    assertThat(mine.messages("shared")).hasSize(6).startsWith(SYSTEM);
                    mine.replace("fleeting " + thread, window(i, i + 1));
                    mine.delete("fleeting " + thread);
                }
            }));
        }
        for (Future<?> thread : running) {
            thread.get();
        }
        pool.shutdown();

        reopen();

        assertThat(conversations.names()).containsExactlyInAnyOrder("shared", "own 0", "own 1", "own 2", "own 3");
        assertThat(conversations.messages("shared"))
                .isIn(IntStream.range(0, threads)
                        .mapToObj(t -> window(1000 * t + rounds - 1, 1000 * t + rounds + 4, SYSTEM))
                        .toList());
    }

    /** An unpaired surrogate must be stored as a JSON escape. Models create one by truncating text in an emoji. */
    @Test
    void storesUnpairedSurrogateAsEscape() {
        String whole = "{\"text\":\"\ud83d\ude00\"}";
        String cut = "{\"text\":\"a\ud83d\"}";
        String turned = "{\"text\":\"\ude00\ud83d!\"}";
        conversations.replace("lucy", List.of(whole, cut, turned));
        List<String> kept = List.of(whole, "{\"text\":\"a\\ud83d\"}", "{\"text\":\"\\ude00\\ud83d!\"}");
        assertThat(conversations.messages("lucy")).isEqualTo(kept);
        reopen();
        assertThat(conversations.messages("lucy")).isEqualTo(kept);
        assertThat(appended(() -> conversations.replace("lucy", List.of(whole, cut, turned))))
                .as("the same messages are not written again")
                .isZero();
    }
}
