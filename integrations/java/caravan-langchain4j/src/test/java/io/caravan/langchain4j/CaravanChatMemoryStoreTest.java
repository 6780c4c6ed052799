package io.caravan.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import io.caravan.DurableListStore;
import io.caravan.ValueTooLargeException;
import io.caravan.integrations.testing.ChildJvm;
import io.caravan.integrations.testing.ReadmeExample;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CaravanChatMemoryStoreTest {
    private static final int WINDOW = 10;

    @TempDir
    Path work;

    private DurableListStore store;
    private CaravanChatMemoryStore memories;

    @BeforeEach
    void open() {
        store = DurableListStore.open(work.resolve("store"));
        memories = new CaravanChatMemoryStore(store);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void reopen() {
        close();
        open();
    }

    private static ChatMemory window(CaravanChatMemoryStore memories) {
        return MessageWindowChatMemory.builder()
                .id("lucy")
                .maxMessages(WINDOW)
                .chatMemoryStore(memories)
                .build();
    }

    @Test
    void messagesOfAllTypesSurviveReopen() {
        List<ChatMessage> messages = List.of(
                SystemMessage.from("You are polite."),
                UserMessage.from(
                        "lucy", List.of(TextContent.from("What is this?"), ImageContent.from("http://a/b.png"))),
                AiMessage.from(
                        "I look.",
                        List.of(ToolExecutionRequest.builder()
                                .id("1")
                                .name("look")
                                .arguments("{\"at\": \"b.png\"}")
                                .build())),
                ToolExecutionResultMessage.from("1", "look", "a \"dog\" \ud83d\udc36"),
                AiMessage.from("It is a dog."));

        memories.updateMessages(7, messages);

        reopen();
        assertThat(memories.getMessages(7)).isEqualTo(messages);
        assertThat(memories.getMessages("7")).isEqualTo(messages);
        assertThat(memories.getMessages(8)).isEmpty();
        memories.deleteMessages(7);
        reopen();
        assertThat(memories.getMessages(7)).isEmpty();
    }

    @Test
    void messageWindowSurvivesReopen() {
        ChatMemory memory = window(memories);
        memory.add(SystemMessage.from("You are polite."));
        for (int i = 0; i < 25; i++) {
            memory.add(UserMessage.from("question " + i));
            memory.add(AiMessage.from("answer " + i));
        }
        List<ChatMessage> messages = memory.messages();

        reopen();

        assertThat(messages).hasSize(WINDOW).startsWith(SystemMessage.from("You are polite."));
        assertThat(messages).endsWith(AiMessage.from("answer 24"));
        assertThat(window(memories).messages()).isEqualTo(messages);
        window(memories).clear();
        assertThat(memories.getMessages("lucy")).isEmpty();
    }

    /**
     * A message must be written back as the JSON that was read, or every update would write the entire conversation.
     */
    @Test
    void turnWritesOnlyAddedMessages() {
        ChatMemory memory = window(memories);
        memory.add(SystemMessage.from("You are polite."));
        for (int i = 0; i < 10; i++) {
            memory.add(UserMessage.from("question " + i));
        }
        long before = store.stats().appends();

        for (int i = 10; i < 19; i++) {
            memory.add(UserMessage.from("question " + i));
        }

        // One append for each turn, and one or two for the system message.
        assertThat(store.stats().appends() - before).isBetween(9L, 11L);
    }

    @Test
    void rejectsMessageOverLimitAndChangesNothing() {
        ChatMemory memory = window(memories);
        memory.add(UserMessage.from("short"));

        assertThatThrownBy(() -> memory.add(UserMessage.from("x".repeat(1 << 20))))
                .isInstanceOf(ValueTooLargeException.class)
                .hasMessageContaining("StoreConfig.maxValueBytes");

        assertThat(memory.messages()).containsExactly(UserMessage.from("short"));
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
        List<ChatMessage> messages = window(memories).messages();
        assertThat(messages).hasSize(WINDOW).startsWith(SystemMessage.from("You are polite."));
        int newest = number(messages.get(WINDOW - 1));
        assertThat(newest).isBetween(acknowledged, acknowledged + 1);
        for (int i = 1; i < WINDOW; i++) {
            assertThat(number(messages.get(i))).isEqualTo(newest - (WINDOW - 1) + i);
        }
    }

    private static int number(ChatMessage message) {
        return Integer.parseInt(((UserMessage) message).singleText());
    }

    /**
     * Adds up to {@code arguments[1]} numbers to a memory, prints each number after adding it, and waits to be killed.
     */
    static final class WritingMain {
        private WritingMain() {}

        public static void main(String[] arguments) throws IOException {
            ChatMemory memory = window(new CaravanChatMemoryStore(DurableListStore.open(Path.of(arguments[0]))));
            memory.add(SystemMessage.from("You are polite."));
            for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
                memory.add(UserMessage.from(String.valueOf(i)));
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
