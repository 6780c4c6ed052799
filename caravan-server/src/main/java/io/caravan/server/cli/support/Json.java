package io.caravan.server.cli.support;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;

/** Converts objects to readable JSON, and back. */
final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private Json() {}

    static byte[] bytes(Object value) {
        try {
            return MAPPER.writeValueAsBytes(value);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("cannot be written as JSON: " + value.getClass(), impossible);
        }
    }

    /** Parses JSON. Throws {@link IOException} if the bytes are not JSON; the message does not quote them. */
    static JsonNode parse(byte[] bytes) throws IOException {
        try {
            return MAPPER.readTree(bytes);
        } catch (JsonProcessingException wrong) {
            throw new IOException("it is not JSON", wrong);
        }
    }
}
