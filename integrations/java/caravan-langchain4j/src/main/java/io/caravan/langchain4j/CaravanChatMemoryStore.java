package io.caravan.langchain4j;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.caravan.ListStore;
import io.caravan.chat.Conversations;
import java.util.List;

/**
 * A LangChain4j {@link ChatMemoryStore} backed by an embedded Caravan store. A memory is a conversation whose name is
 * {@code langchain4j/} and the memory id as text, so the ids 7 and "7" are the same. Messages are stored as
 * LangChain4j's JSON.
 *
 * <p>A change is atomic, and durable when the method returns. An update writes only new messages, and throws the
 * exceptions that {@link Conversations} documents. An update without messages deletes the memory. Thread-safe.
 */
public final class CaravanChatMemoryStore implements ChatMemoryStore {
    private static final String PREFIX = "langchain4j/";

    private final Conversations conversations;

    /**
     * Creates a chat memory store that keeps its memories in this Caravan store. The caller must close the store.
     *
     * @throws IllegalStateException if the store has lists with ids from 1 on that are not conversations
     */
    public CaravanChatMemoryStore(ListStore store) {
        conversations = Conversations.of(store, PREFIX);
    }

    @Override
    public List<ChatMessage> getMessages(Object memoryId) {
        return conversations.messages(memoryId.toString()).stream()
                .map(ChatMessageDeserializer::messageFromJson)
                .toList();
    }

    @Override
    public void updateMessages(Object memoryId, List<ChatMessage> messages) {
        conversations.replace(
                memoryId.toString(),
                messages.stream().map(ChatMessageSerializer::messageToJson).toList());
    }

    @Override
    public void deleteMessages(Object memoryId) {
        conversations.delete(memoryId.toString());
    }
}
