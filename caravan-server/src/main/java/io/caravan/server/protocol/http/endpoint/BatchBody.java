package io.caravan.server.protocol.http.endpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.StreamName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The body of a batch: <code>{"changes": [{"path": ..., "append": [...]}, ...]}</code>. What is over a limit is refused
 * when it is met, before more is read.
 */
final class BatchBody {
    /** Changes of one batch, each of which locks a name. */
    static final int MAX_CHANGES = 1_000;

    private static final int MAX_DEPTH = 8;
    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private final JsonParser json;
    private final long maxBatchBytes;
    private final List<StreamChange> changes = new ArrayList<>();
    private long bytes;

    private BatchBody(JsonParser json, long maxBatchBytes) {
        this.json = json;
        this.maxBatchBytes = maxBatchBytes;
    }

    /**
     * The changes of a body.
     *
     * @param maxBatchBytes what all values may take in the store's log, with an overhead for each
     * @throws Problem when it is not as described
     */
    static List<StreamChange> parse(byte[] body, long maxBatchBytes) {
        try (JsonParser json = JSON.createParser(body)) {
            return new BatchBody(json, maxBatchBytes).changes();
        } catch (IOException notJson) {
            String line =
                    String.valueOf(notJson.getMessage()).lines().findFirst().orElse("");
            throw invalid("the body is not JSON: " + line);
        }
    }

    private List<StreamChange> changes() throws IOException {
        require(json.nextToken() == JsonToken.START_OBJECT, "the body must be an object");
        require("changes".equals(json.nextFieldName()), "the body must have one field, changes");
        require(json.nextToken() == JsonToken.START_ARRAY, "changes must be an array");
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (changes.size() == MAX_CHANGES) {
                throw new Problem(
                        413,
                        "too_many_changes",
                        "a batch has at most " + MAX_CHANGES + " changes; send more in another one");
            }
            changes.add(change());
        }
        require(json.nextToken() == JsonToken.END_OBJECT, "the body must have one field, changes");
        require(json.nextToken() == null, "there must be nothing after the object");
        require(!changes.isEmpty(), "changes must hold one at least");
        return changes;
    }

    private StreamChange change() throws IOException {
        require(json.currentToken() == JsonToken.START_OBJECT, where() + " must be an object");
        Fields fields = new Fields();
        for (String field = json.nextFieldName(); field != null; field = json.nextFieldName()) {
            json.nextToken();
            switch (field) {
                case "path" -> fields.path = string(field);
                case "append" -> fields.append = strings();
                case "base64" -> fields.base64 = flag(field);
                case "ifOffset" -> fields.ifOffset = string(field);
                case "trim" -> fields.trim = string(field);
                case "delete" -> fields.delete = flag(field);
                default -> throw invalid(where() + " has an unknown field, " + DocumentName.printable(field));
            }
        }
        return fields.change();
    }

    private String string(String field) throws IOException {
        require(json.currentToken() == JsonToken.VALUE_STRING, where() + ": " + field + " must be a string");
        return json.getText();
    }

    private boolean flag(String field) throws IOException {
        require(json.currentToken().isBoolean(), where() + ": " + field + " must be true or false");
        return json.getBooleanValue();
    }

    private List<byte[]> strings() throws IOException {
        require(json.currentToken() == JsonToken.START_ARRAY, where() + ": append must be an array");
        List<byte[]> values = new ArrayList<>();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            byte[] value = utf8(string("each value"));
            bytes += StreamWrites.MESSAGE_OVERHEAD_BYTES + value.length;
            if (bytes > maxBatchBytes) {
                throw new Problem(
                        413,
                        "too_many_messages",
                        "the values of a batch and " + StreamWrites.MESSAGE_OVERHEAD_BYTES
                                + " bytes more for each may be " + maxBatchBytes
                                + " bytes together; send them in several");
            }
            values.add(value);
        }
        require(!values.isEmpty(), where() + ": append must hold one value at least");
        return values;
    }

    private byte[] utf8(String text) {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] value = new byte[encoded.remaining()];
            encoded.get(value);
            return value;
        } catch (CharacterCodingException halfCharacter) {
            throw invalid(where() + ": a value is not text, because it has half a surrogate pair; send it with base64");
        }
    }

    private String where() {
        return "change " + (changes.size() + 1);
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw invalid(otherwise);
        }
    }

    private static Problem invalid(String detail) {
        return Problem.badRequest("invalid_batch", detail);
    }

    /** What a change says, in any order. */
    private final class Fields {
        private @Nullable String path;
        private @Nullable List<byte[]> append;
        private boolean base64;
        private @Nullable String ifOffset;
        private @Nullable String trim;
        private boolean delete;

        StreamChange change() {
            int kinds = (append == null ? 0 : 1) + (trim == null ? 0 : 1) + (delete ? 1 : 0);
            require(kinds == 1, where() + " must have one of append, trim and delete");
            require(append != null || ifOffset == null && !base64, where() + ": ifOffset and base64 are for append");
            DocumentName name = name();
            if (append != null) {
                return new StreamChange.Append(name, base64 ? decoded(append) : append, sequence());
            }
            return trim == null
                    ? new StreamChange.Delete(name)
                    : new StreamChange.Trim(name, Offset.parse(trim, where() + ": trim"));
        }

        private DocumentName name() {
            if (path == null || !path.startsWith(StreamName.PREFIX)) {
                throw invalid(where() + " must have a path, that of a stream, which begins with " + StreamName.PREFIX);
            }
            return StreamName.of(path.substring(StreamName.PREFIX.length()));
        }

        private OptionalLong sequence() {
            return ifOffset == null
                    ? OptionalLong.empty()
                    : OptionalLong.of(Offset.sequence(ifOffset, where() + ": ifOffset"));
        }

        private List<byte[]> decoded(List<byte[]> values) {
            try {
                return values.stream().map(Base64.getDecoder()::decode).toList();
            } catch (IllegalArgumentException notBase64) {
                throw invalid(where() + ": a value is not base64: " + notBase64.getMessage());
            }
        }
    }
}
