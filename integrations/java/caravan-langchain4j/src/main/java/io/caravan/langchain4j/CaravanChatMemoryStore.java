package io.caravan.langchain4j;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.caravan.ListStore;
import io.caravan.chat.Conversations;
import java.util.List;

/**
 * A LangChain4j chat memory in an embedded store. The conversation of a memory is named {@code langchain4j/} followed
 * by the id as text, so 7 and "7" are the same id. A message has the JSON form of LangChain4j.
 *
 * <p>When a method returns, its change is durable. A change is atomic. An update writes only new messages. A memory
 * without messages is deleted. See {@link Conversations}, whose exceptions the methods pass on.
 *
 * <p><b>Threading.</b> Threads may share this object.
 */
public final class CaravanChatMemoryStore implements ChatMemoryStore {
    private static final String PREFIX = "langchain4j/";

    private final Conversations conversations;

    /**
     * Stores memories in this store, which the caller closes.
     *
     * @throws IllegalStateException if the store has lists with positive ids that are not conversations
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
