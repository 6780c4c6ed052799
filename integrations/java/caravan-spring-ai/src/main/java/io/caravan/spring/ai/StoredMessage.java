package io.caravan.spring.ai;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.messages.AbstractMessage;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.MessageType;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.ai.content.MediaContent;
import org.springframework.util.MimeType;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The JSON form of a message. Equal messages always have the same JSON, so that a save can detect which messages the
 * store already contains.
 */
@JsonInclude(Include.NON_EMPTY)
record StoredMessage(
        MessageType type,
        @JsonInclude(Include.NON_NULL) @Nullable String text,
        Map<String, Object> metadata,
        List<StoredMedia> media,
        List<ToolCall> toolCalls,
        List<ToolResponse> toolResponses) {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    /**
     * A media attachment. Data other than a byte array, such as a URL, is stored as text.
     *
     * @param bytes encoded as Base64 in the JSON
     */
    @JsonInclude(Include.NON_NULL)
    record StoredMedia(
            String mimeType,
            @Nullable String id,
            @Nullable String name,
            byte @Nullable [] bytes,
            @Nullable String text) {

        static StoredMedia of(Media media) {
            byte[] bytes = media.getData() instanceof byte[] data ? data : null;
            String text = bytes == null ? media.getData().toString() : null;
            return new StoredMedia(media.getMimeType().toString(), media.getId(), media.getName(), bytes, text);
        }

        Media toMedia() {
            Media.Builder media = Media.builder().mimeType(MimeType.valueOf(mimeType));
            if (id != null) {
                media.id(id);
            }
            if (name != null) {
                media.name(name);
            }
            return bytes != null
                    ? media.data(bytes).build()
                    : media.data(Objects.requireNonNullElse(text, "")).build();
        }
    }

    /** Replaces null with empty collections, because the JSON omits empty collections. */
    StoredMessage {
        metadata = Objects.requireNonNullElse(metadata, Map.of());
        media = Objects.requireNonNullElse(media, List.of());
        toolCalls = Objects.requireNonNullElse(toolCalls, List.of());
        toolResponses = Objects.requireNonNullElse(toolResponses, List.of());
    }

    static String write(Message message) {
        Map<String, Object> metadata = new HashMap<>(message.getMetadata());
        metadata.remove(AbstractMessage.MESSAGE_TYPE);
        return JSON.writeValueAsString(new StoredMessage(
                message.getMessageType(),
                message.getText(),
                metadata,
                message instanceof MediaContent with
                        ? with.getMedia().stream().map(StoredMedia::of).toList()
                        : List.of(),
                message instanceof AssistantMessage assistant ? assistant.getToolCalls() : List.of(),
                message instanceof ToolResponseMessage tools ? tools.getResponses() : List.of()));
    }

    static Message read(String json) {
        return JSON.readValue(json, StoredMessage.class).toMessage();
    }

    private Message toMessage() {
        List<Media> media = this.media.stream().map(StoredMedia::toMedia).toList();
        return switch (type) {
            case SYSTEM ->
                SystemMessage.builder()
                        .text(Objects.requireNonNullElse(text, ""))
                        .metadata(metadata)
                        .build();
            case USER ->
                UserMessage.builder()
                        .text(Objects.requireNonNullElse(text, ""))
                        .media(media)
                        .metadata(metadata)
                        .build();
            case ASSISTANT ->
                AssistantMessage.builder()
                        .content(text)
                        .media(media)
                        .toolCalls(toolCalls)
                        .properties(metadata)
                        .build();
            case TOOL ->
                ToolResponseMessage.builder()
                        .responses(toolResponses)
                        .metadata(metadata)
                        .build();
        };
    }
}
