package io.caravan.server.protocol.http.endpoint;

import com.fasterxml.jackson.core.JsonToken;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.AppendRequest;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.EditedDocument;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The body of a batch: <code>{"changes": [{"path": ..., "append": [...]}, ...]}</code>. */
final class BatchBody extends JsonBody<BatchBody.Change> {
    /** Maximum number of changes in a batch, because each of them locks a name. */
    static final int MAX_CHANGES = 1_000;

    private final long maxBatchBytes;
    private long bytes;

    /**
     * One change of a batch.
     *
     * @param edit makes the change as part of a write, and returns the resulting state of the stream
     */
    record Change(DocumentName name, Function<EditedDocument, Map<String, Object>> edit) {}

    private BatchBody(byte[] body, long maxBatchBytes) {
        super(parser(body), "changes", "change", "invalid_batch");
        this.maxBatchBytes = maxBatchBytes;
    }

    /**
     * Returns the changes of a body.
     *
     * @param maxBatchBytes maximum size of all values in the log, including an overhead for each value
     * @throws Problem if the body is malformed, or exceeds a limit
     */
    static List<Change> parse(byte[] body, long maxBatchBytes) {
        return new BatchBody(body, maxBatchBytes)
                .read(
                        MAX_CHANGES,
                        new Problem(
                                413,
                                "too_many_changes",
                                "a batch has at most " + MAX_CHANGES + " changes; send more in another one"));
    }

    @Override
    Change element() throws IOException {
        Fields fields = new Fields();
        for (String field = json.nextFieldName(); field != null; field = json.nextFieldName()) {
            json.nextToken();
            switch (field) {
                case PATH -> fields.path = string(field);
                case "append" -> fields.append = strings();
                case "base64" -> fields.base64 = flag(field);
                case "ifOffset" -> fields.ifOffset = string(field);
                case "trim" -> fields.trim = string(field);
                case "delete" -> fields.delete = flag(field);
                default -> throw unknown(field);
            }
        }
        return fields.change();
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
        require(!values.isEmpty(), where() + ": append must contain at least one value");
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

    /** The fields of a change, which may come in any order. */
    private final class Fields {
        private @Nullable String path;
        private @Nullable List<byte[]> append;
        private boolean base64;
        private @Nullable String ifOffset;
        private @Nullable String trim;
        private boolean delete;

        Change change() {
            int kinds = (append == null ? 0 : 1) + (trim == null ? 0 : 1) + (delete ? 1 : 0);
            require(kinds == 1, where() + " must have one of append, trim and delete");
            require(append != null || ifOffset == null && !base64, where() + ": ifOffset and base64 are for append");
            DocumentName name = name(path);
            if (append != null) {
                List<byte[]> values = base64 ? decoded(append) : append;
                AppendRequest request = new AppendRequest(values, false, null, null, null, sequence());
                return new Change(
                        name, document -> written(request.applyTo(document).info(), name));
            }
            if (trim != null) {
                Offset to = Offset.parse(trim, where() + ": trim");
                return new Change(name, document -> written(StreamWrites.trim(document, to), name));
            }
            return new Change(name, document -> {
                StreamWrites.requireDeleted(name, document.delete());
                return result(name, "deleted", true);
            });
        }

        private static Map<String, Object> written(DocumentInfo info, DocumentName name) {
            Map<String, Object> result = result(name, "firstOffset", Offset.of(info.firstSequence()));
            result.put("nextOffset", Offset.of(info.nextSequence()));
            return result;
        }

        private static Map<String, Object> result(DocumentName name, String field, Object value) {
            Map<String, Object> result = new LinkedHashMap<>();
            result.put(PATH, StreamName.path(name));
            result.put(field, value);
            return result;
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
