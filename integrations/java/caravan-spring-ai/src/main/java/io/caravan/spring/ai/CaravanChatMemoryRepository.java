package io.caravan.spring.ai;

import io.caravan.ListStore;
import io.caravan.chat.Conversations;
import java.util.List;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.messages.Message;

/**
 * Spring AI's chat memory in an embedded store. A conversation is named {@code spring-ai/} and its id there; a message is
 * JSON, with its text, metadata, media, tool calls and tool responses. What JSON has no type for in the metadata comes back
 * as what JSON made of it, and a subclass of a message as its class.
 *
 * <p>What has returned is durable, and a change is all or nothing. Saving writes what is new: see {@link Conversations},
 * whose exceptions also come from here. A conversation that is saved without messages is deleted. Threads may share it.
 */
public final class CaravanChatMemoryRepository implements ChatMemoryRepository {
    private static final String PREFIX = "spring-ai/";

    private final Conversations conversations;

    /**
     * Keeps conversations in this store, which stays the caller's to close.
     *
     * @throws IllegalStateException when the store has lists with ids from 1 on that are no conversations
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
     * @throws tools.jackson.core.JacksonException when a message's metadata cannot be made JSON; nothing has changed
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
