package io.caravan.langchain4j;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.caravan.ListStore;
import io.caravan.chat.Conversations;
import java.util.List;

/**
 * LangChain4j's chat memory in an embedded store. A memory is a conversation named {@code langchain4j/} and the text of
 * its id, so that 7 and "7" are the same; a message is the JSON that LangChain4j makes of it.
 *
 * <p>What has returned is durable, and a change is all or nothing. An update writes what it adds: see
 * {@link Conversations}, whose exceptions also come from here. A memory without messages is deleted. Threads may share it.
 */
public final class CaravanChatMemoryStore implements ChatMemoryStore {
    private static final String PREFIX = "langchain4j/";

    private final Conversations conversations;

    /**
     * Keeps memories in this store, which stays the caller's to close.
     *
     * @throws IllegalStateException when the store has lists with ids from 1 on that are no conversations
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
