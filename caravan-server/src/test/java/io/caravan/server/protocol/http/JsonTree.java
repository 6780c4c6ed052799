package io.caravan.server.protocol.http;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** A parser that returns JSON objects as maps. */
final class JsonTree {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private JsonTree() {}

    static Map<String, Object> parse(String json) throws Exception {
        return MAPPER.readValue(json, new TypeReference<>() {});
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }
}
