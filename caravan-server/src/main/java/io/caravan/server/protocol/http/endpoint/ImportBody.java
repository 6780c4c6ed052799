package io.caravan.server.protocol.http.endpoint;

import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.PortableAttributes;
import io.caravan.server.protocol.http.codec.HttpConfig;
import io.caravan.server.protocol.http.codec.Problem;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The body of an import step: <code>{"attributes": {...}, "values": ["Base64", ...]}</code>. Both fields are optional,
 * and the body may be empty.
 */
record ImportBody(Map<String, Object> attributes, List<byte[]> values) {
    private static final int MAX_ATTRIBUTES = 16;
    private static final String INVALID = "invalid_import";

    ImportBody(@Nullable Map<String, Object> attributes, @Nullable List<byte[]> values) {
        this.attributes = Objects.requireNonNullElse(attributes, Map.of());
        this.values = Objects.requireNonNullElse(values, List.of());
    }

    /**
     * Parses the body of an import step.
     *
     * @throws Problem if the body is malformed, or exceeds a limit
     */
    static ImportBody parse(byte[] body, JsonBody json, HttpConfig config) {
        ImportBody given = body.length == 0 ? new ImportBody(null, null) : json.parse(body, ImportBody.class, INVALID);
        require(given.attributes.size() <= MAX_ATTRIBUTES, "a document has at most " + MAX_ATTRIBUTES + " attributes");
        require(
                given.attributes.values().stream()
                        .allMatch(each -> each instanceof String || each instanceof Integer || each instanceof Long),
                "each attribute must be a number or a string");
        ValueBytes size = new ValueBytes("a step", config.maxBatchBytes());
        for (byte[] value : given.values) {
            if (value.length > config.maxBodyBytes()) {
                throw new Problem(
                        413,
                        "value_too_large",
                        "a value may have at most " + config.maxBodyBytes() + " bytes, see --max-value; one has "
                                + value.length);
            }
            size.add(value.length);
        }
        return given;
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw Problem.badRequest(INVALID, otherwise);
        }
    }

    /** Converts the body's attributes. Throws {@link IllegalArgumentException} if one is unknown or invalid. */
    DocumentAttributes documentAttributes() {
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
