package io.caravan.spring.ai;

import io.caravan.ListStore;
import io.caravan.chat.Conversations;
import java.util.List;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.messages.Message;

/**
 * A Spring AI chat memory in an embedded store. A conversation is named {@code spring-ai/} followed by its id. A
 * message is JSON with its text, metadata, media, tool calls, and tool responses. Metadata of types that JSON does not
 * have returns as JSON types. A subclass of a message class returns as that class.
 *
 * <p>When a method returns, its change is durable. A change is atomic. Saving writes only new messages. A conversation
 * that is saved without messages is deleted. See {@link Conversations}, whose exceptions the methods pass on.
 *
 * <p><b>Threading.</b> Threads may share this object.
 */
public final class CaravanChatMemoryRepository implements ChatMemoryRepository {
    private static final String PREFIX = "spring-ai/";

    private final Conversations conversations;

    /**
     * Stores conversations in this store, which the caller closes.
     *
     * @throws IllegalStateException if the store has lists with positive ids that are not conversations
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
     * @throws tools.jackson.core.JacksonException if the metadata of a message cannot be converted to JSON; nothing has
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
