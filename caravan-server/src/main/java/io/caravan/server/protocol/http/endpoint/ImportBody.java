package io.caravan.server.protocol.http.endpoint;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.PortableAttributes;
import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.http.codec.Problem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The body of an import step: <code>{"attributes": {...}, "values": ["Base64", ...]}</code>. Both fields are optional,
 * and the body may be empty. Parsing stops when a limit is exceeded.
 */
final class ImportBody {
    private static final int MAX_ATTRIBUTES = 16;

    private final List<byte[]> values = new ArrayList<>();
    private final Map<String, Object> attributes = new LinkedHashMap<>();

    private ImportBody() {}

    /**
     * Parses a body.
     *
     * @throws Problem if the body is malformed, or exceeds a limit
     */
    static ImportBody parse(byte[] body, HttpConfig config) {
        ImportBody carried = new ImportBody();
        if (body.length > 0) {
            try (JsonParser json = JsonBody.parser(body)) {
                carried.read(json, config);
            } catch (IOException notJson) {
                String line =
                        String.valueOf(notJson.getMessage()).lines().findFirst().orElse("");
                throw invalid("the body is not JSON as it must be: " + line);
            }
        }
        return carried;
    }

    private static Problem invalid(String detail) {
        return Problem.badRequest("invalid_import", detail);
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw invalid(otherwise);
        }
    }

    private void read(JsonParser json, HttpConfig config) throws IOException {
        require(json.nextToken() == JsonToken.START_OBJECT, "the body must be an object");
        for (String field = json.nextFieldName(); field != null; field = json.nextFieldName()) {
            JsonToken token = json.nextToken();
            switch (field) {
                case "attributes" -> {
                    require(token == JsonToken.START_OBJECT, "attributes must be an object");
                    readAttributes(json);
                }
                case "values" -> {
                    require(token == JsonToken.START_ARRAY, "values must be an array");
                    readValues(json, config);
                }
                default -> throw invalid("the body may have the fields attributes and values");
            }
        }
        require(json.nextToken() == null, "there must be nothing after the object");
    }

    private void readAttributes(JsonParser json) throws IOException {
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            require(attributes.size() < MAX_ATTRIBUTES, "a document has at most " + MAX_ATTRIBUTES + " attributes");
            JsonToken token = json.nextToken();
            require(
                    token == JsonToken.VALUE_STRING || token == JsonToken.VALUE_NUMBER_INT,
                    "each attribute must be a number or a string");
            attributes.put(name, token == JsonToken.VALUE_STRING ? json.getText() : json.getLongValue());
        }
    }

    private void readValues(JsonParser json, HttpConfig config) throws IOException {
        long bytes = 0;
        while (json.nextToken() != JsonToken.END_ARRAY) {
            require(json.currentToken() == JsonToken.VALUE_STRING, "each value must be a string of Base64");
            byte[] value = json.getBinaryValue();
            if (value.length > config.maxBodyBytes()) {
                throw new Problem(
                        413,
                        "value_too_large",
                        "a value may have at most " + config.maxBodyBytes() + " bytes, see --max-value; one has "
                                + value.length);
            }
            bytes += value.length + StreamWrites.MESSAGE_OVERHEAD_BYTES;
            if (bytes > config.maxBatchBytes()) {
                throw new Problem(
                        413,
                        "too_many_messages",
                        "the values of a step and " + StreamWrites.MESSAGE_OVERHEAD_BYTES
                                + " bytes more for each may be " + config.maxBatchBytes()
                                + " bytes together; send them in several");
            }
            values.add(value);
        }
    }

    List<byte[]> values() {
        return values;
    }

    /** Returns the attributes. Throws {@link IllegalArgumentException} if an attribute is unknown or invalid. */
    DocumentAttributes attributes() {
        Map<String, byte[]> given = new LinkedHashMap<>();
        PortableAttributes.ofJson(attributes)
                .forEach((name, value) -> given.put(
                        name,
                        value instanceof byte[] bytes ? bytes : value.toString().getBytes(StandardCharsets.US_ASCII)));
        return PortableAttributes.parse(given);
    }

    void requireNoValues(String step) {
        require(values.isEmpty(), "the step " + step + " has no values");
    }

    void requireNoAttributes(String step) {
        require(attributes.isEmpty(), "the step " + step + " has no attributes");
    }
}
