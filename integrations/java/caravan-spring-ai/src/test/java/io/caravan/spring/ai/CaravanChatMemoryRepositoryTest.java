package io.caravan.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.DurableListStore;
import io.caravan.ValueTooLargeException;
import io.caravan.integrations.testing.ChildJvm;
import io.caravan.integrations.testing.ReadmeExample;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeTypeUtils;
import tools.jackson.core.JacksonException;

class CaravanChatMemoryRepositoryTest {
    private static final int WINDOW = 10;

    @TempDir
    Path work;

    private DurableListStore store;
    private CaravanChatMemoryRepository repository;

    @BeforeEach
    void open() {
        store = DurableListStore.open(work.resolve("store"));
        repository = new CaravanChatMemoryRepository(store);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void reopen() {
        close();
        open();
    }

    private static ChatMemory window(CaravanChatMemoryRepository repository) {
        return MessageWindowChatMemory.builder()
                .chatMemoryRepository(repository)
                .maxMessages(WINDOW)
                .build();
    }

    @Test
    void messagesOfAllTypesSurviveReopen() {
        List<Message> messages = List.of(
                SystemMessage.builder()
                        .text("You are polite.")
                        .metadata(Map.of("version", 3))
                        .build(),
                UserMessage.builder()
                        .text("")
                        .metadata(Map.of("by", "lucy", "tags", List.of("a", "b"), "sure", true))
                        .build(),
                AssistantMessage.builder()
                        .content("I look. \ud83d\udc36")
                        .properties(Map.of("nested", Map.of("cost", 0.5)))
                        .toolCalls(List.of(new ToolCall("1", "function", "look", "{\"at\": \"b.png\"}")))
                        .build(),
                AssistantMessage.builder().content(null).build(),
                ToolResponseMessage.builder()
                        .responses(List.of(new ToolResponse("1", "look", "a \"dog\"")))
                        .metadata(Map.of("took", 12))
                        .build());

        repository.saveAll("a", messages);
        repository.saveAll("b", messages.subList(0, 1));

        reopen();
        assertThat(repository.findByConversationId("a")).isEqualTo(messages);
        assertThat(repository.findConversationIds()).containsExactlyInAnyOrder("a", "b");
        assertThat(repository.findByConversationId("c")).isEmpty();
        repository.deleteByConversationId("a");
        assertThat(repository.findConversationIds()).containsExactly("b");
    }

    @Test
    void mediaSurviveReopen() {
        byte[] bytes = {0, 1, -1};
        repository.saveAll(
                "a",
                List.of(UserMessage.builder()
                        .text("What are these?")
                        .media(
                                Media.builder()
                                        .mimeType(MimeTypeUtils.IMAGE_PNG)
                                        .data(bytes)
                                        .id("7")
                                        .name("dog")
                                        .build(),
                                new Media(MimeTypeUtils.IMAGE_JPEG, URI.create("http://a/b.jpg")))
                        .build()));

        reopen();

        List<Media> media = ((UserMessage) repository.findByConversationId("a").get(0)).getMedia();
        assertThat(media).hasSize(2);
        assertThat(media.get(0).getMimeType()).isEqualTo(MimeTypeUtils.IMAGE_PNG);
        assertThat(media.get(0).getDataAsByteArray()).isEqualTo(bytes);
        assertThat(media.get(0).getId()).isEqualTo("7");
        assertThat(media.get(0).getName()).isEqualTo("dog");
        assertThat(media.get(1).getData()).isEqualTo("http://a/b.jpg");
        assertThat(media.get(1).getName()).startsWith("media-jpeg-");
    }

    @Test
    void rejectsNonJsonMetadataAndChangesNothing() {
        Map<String, Object> endless = new HashMap<>();
        endless.put("itself", endless);
        repository.saveAll("a", List.of(new UserMessage("short")));

        assertThatThrownBy(() -> repository.saveAll(
                        "a",
                        List.of(UserMessage.builder().text("").metadata(endless).build())))
                .isInstanceOf(JacksonException.class);

        assertThat(repository.findByConversationId("a")).containsExactly(new UserMessage("short"));
    }

    @Test
    void messageWindowSurvivesReopen() {
        ChatMemory memory = window(repository);
        memory.add("lucy", new SystemMessage("You are polite."));
        for (int i = 0; i < 25; i++) {
            memory.add("lucy", List.of(new UserMessage("question " + i), new AssistantMessage("answer " + i)));
        }
        List<Message> messages = memory.get("lucy");

        reopen();

        assertThat(messages)
                .startsWith(new SystemMessage("You are polite."))
                .endsWith(new AssistantMessage("answer 24"));
        assertThat(messages.size()).isBetween(WINDOW - 1, WINDOW);
        assertThat(window(repository).get("lucy")).isEqualTo(messages);
        window(repository).clear("lucy");
        assertThat(repository.findConversationIds()).isEmpty();
    }

    /** A message must be written back as the JSON that was read, or every turn would write the entire conversation. */
    @Test
    void turnWritesOnlyAddedMessages() {
        ChatMemory memory = window(repository);
        memory.add("lucy", new SystemMessage("You are polite."));
        for (int i = 0; i < 10; i++) {
            memory.add("lucy", turn(i));
        }
        long before = store.stats().appends();

        for (int i = 10; i < 19; i++) {
            memory.add("lucy", turn(i));
        }

        // Two appends for each turn, and some for the system message.
        assertThat(store.stats().appends() - before).isBetween(18L, 22L);
    }

    private static List<Message> turn(int number) {
        return List.of(
                UserMessage.builder()
                        .text("question " + number)
                        .metadata(Map.of("a", 1, "b", 2L, "c", List.of(3.0), "number", number))
                        .build(),
                AssistantMessage.builder()
                        .content("answer " + number)
                        .toolCalls(List.of(new ToolCall("1", "function", "look", "{}")))
                        .build());
    }

    @Test
    void rejectsMessageOverLimitAndChangesNothing() {
        ChatMemory memory = window(repository);
        memory.add("lucy", new UserMessage("short"));

        assertThatThrownBy(() -> memory.add("lucy", new UserMessage("x".repeat(1 << 20))))
                .isInstanceOf(ValueTooLargeException.class)
                .hasMessageContaining("StoreConfig.maxValueBytes");

        assertThat(memory.get("lucy")).containsExactly(new UserMessage("short"));
    }

    /**
     * Two threads may overwrite each other's turns in a conversation, as in any repository, but each remaining turn
     * must be complete.
     */
    @Test
    void concurrentThreadsLeaveCompleteTurns() throws Exception {
        ChatMemory memory = window(repository);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<?>> running = new ArrayList<>();
        for (int t = 0; t < 2; t++) {
            int thread = t;
            running.add(pool.submit(() -> {
                for (int i = 0; i < 100; i++) {
                    String number = thread + " " + i;
                    memory.add("lucy", List.of(new UserMessage(number), new AssistantMessage(number)));
                }
            }));
        }
        for (Future<?> thread : running) {
            thread.get();
        }
        pool.shutdown();

        reopen();

        List<Message> messages = window(repository).get("lucy");
        assertThat(messages).hasSize(WINDOW);
        for (int i = 0; i < WINDOW; i += 2) {
            assertThat(messages.get(i))
                    .isEqualTo(
                            new UserMessage(String.valueOf(messages.get(i + 1).getText())));
        }
        assertThat(messages.get(WINDOW - 1).getText()).endsWith(" 99");
    }

    /** Acknowledged messages must survive a kill during writes, and a kill while the process is idle. */
    @ParameterizedTest
    @ValueSource(ints = {40, Integer.MAX_VALUE})
    void acknowledgedMessagesSurviveKill(int messagesUntilRest) throws IOException {
        close();
        List<String> reported;
        try (ChildJvm writer = ChildJvm.start(
                WritingMain.class, work.resolve("store").toString(), String.valueOf(messagesUntilRest))) {
            reported = writer.killAfter(40);
        }
        open();

        int acknowledged = reported.stream().mapToInt(Integer::parseInt).max().orElseThrow();
        List<Message> messages = window(repository).get("lucy");
        assertThat(messages).hasSize(WINDOW).startsWith(new SystemMessage("You are polite."));
        int newest = number(messages.get(WINDOW - 1));
        assertThat(newest).isBetween(acknowledged, acknowledged + 1);
        for (int i = 1; i < WINDOW; i++) {
            assertThat(number(messages.get(i))).isEqualTo(newest - (WINDOW - 1) + i);
        }
    }

    private static int number(Message message) {
        return Integer.parseInt(String.valueOf(message.getText()));
    }

    /**
     * Adds up to {@code arguments[1]} numbers to a memory, prints each number after adding it, and waits to be killed.
     */
    static final class WritingMain {
        private WritingMain() {}

        public static void main(String[] arguments) throws IOException {
            ChatMemory memory = window(new CaravanChatMemoryRepository(DurableListStore.open(Path.of(arguments[0]))));
            memory.add("lucy", new SystemMessage("You are polite."));
            for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
                memory.add("lucy", new UserMessage(String.valueOf(i)));
                System.out.println(i);
            }
            System.in.read();
        }
    }

    @Test
    void readmeExampleRuns() throws IOException {
        ReadmeExample example = ReadmeExample.compile(work);

        assertThat(example.run(work.resolve("example").toString())).containsExactly(example.promised());
    }
}
