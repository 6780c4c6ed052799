package io.caravan.spring.ai;

import io.caravan.ListStore;
import io.caravan.chat.Conversations;
import java.util.List;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.messages.Message;

/**
 * A Spring AI {@link ChatMemoryRepository} backed by an embedded Caravan store. The name of a conversation is
 * {@code spring-ai/} followed by its id. A message is stored as JSON, with its text, metadata, media, tool calls, and
 * tool responses. Metadata of a type that JSON lacks is read back as the JSON type to which it was converted. A message
 * of a subclass is read back as the standard class.
 *
 * <p>A change is atomic, and durable when the method returns. A save writes only new messages, and throws the
 * exceptions that {@link Conversations} documents. A save without messages deletes the conversation. Thread-safe.
 */
public final class CaravanChatMemoryRepository implements ChatMemoryRepository {
    private static final String PREFIX = "spring-ai/";

    private final Conversations conversations;

    /**
     * Creates a repository that stores conversations in this store. The caller must close the store.
     *
     * @throws IllegalStateException if the store has lists with ids from 1 on that are not conversations
     */
    public CaravanChatMemoryRepository(ListStore store) {
        conversations = Conversations.of(store, PREFIX);
    }

    @Override
    public List<String> findConversationIds() {
        return conversations.names();
    }

    @Override
    public List<Message> findByConversationId(String conversationId) {
        return conversations.messages(conversationId).stream()
                .map(StoredMessage::read)
                .toList();
    }

    /**
     * Replaces the messages of a conversation.
     *
     * @throws tools.jackson.core.JacksonException if a message's metadata cannot be converted to JSON; nothing has
     *     changed
     */
    @Override
    public void saveAll(String conversationId, List<Message> messages) {
        conversations.replace(
                conversationId, messages.stream().map(StoredMessage::write).toList());
    }

    @Override
    public void deleteByConversationId(String conversationId) {
        conversations.delete(conversationId);
    }
}
