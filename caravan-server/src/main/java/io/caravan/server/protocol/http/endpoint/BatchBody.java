package io.caravan.server.protocol.http.endpoint;

import com.fasterxml.jackson.core.JsonToken;
import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.http.codec.Offset;
import io.caravan.server.protocol.http.codec.Problem;
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

/** The body of a batch: <code>{"operations": [{"path": ..., "append": [...]}, ...]}</code>. */
final class BatchBody extends JsonBody<StreamChange> {
    /** Maximum number of operations in a batch, because each of them locks a name. */
    static final int MAX_OPERATIONS = 1_000;

    private final long maxBatchBytes;
    private long bytes;

    private BatchBody(byte[] body, long maxBatchBytes) {
        super(parser(body), "operations", "operation", "invalid_batch");
        this.maxBatchBytes = maxBatchBytes;
    }

    /**
     * Returns the changes of a body.
     *
     * @param maxBatchBytes maximum size of all values in the log, including an overhead for each value
     * @throws Problem if the body is malformed, or exceeds a limit
     */
    static List<StreamChange> parse(byte[] body, long maxBatchBytes) {
        return new BatchBody(body, maxBatchBytes)
                .read(
                        MAX_OPERATIONS,
                        new Problem(
                                413,
                                "too_many_operations",
                                "a batch has at most " + MAX_OPERATIONS + " operations; send more in another batch"));
    }

    @Override
    StreamChange element() throws IOException {
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

    /** The fields of a change, which may come in any order. */
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
            DocumentName name = name(path);
            if (append != null) {
                return new StreamChange.Append(name, base64 ? decoded(append) : append, sequence());
            }
            return trim == null
                    ? new StreamChange.Delete(name)
                    : new StreamChange.Trim(name, Offset.parse(trim, where() + ": trim"));
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
