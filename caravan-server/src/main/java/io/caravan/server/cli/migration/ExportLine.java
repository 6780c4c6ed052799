package io.caravan.server.cli.migration;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.caravan.server.cli.client.DocumentClient.Description;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A line of an export: a JSON object whose fields are numbers, texts, bytes in Base64, or attributes. */
final class ExportLine {
    private final Map<String, Object> fields;
    private final Map<String, Object> attributes = new LinkedHashMap<>();

    private ExportLine(JsonParser json) throws IOException {
        fields = object(json, attributes);
    }

    /** Parses the object that starts at the parser's current token. */
    static ExportLine parse(JsonParser json) throws IOException {
        return new ExportLine(json);
    }

    private static Map<String, Object> object(JsonParser json, @Nullable Map<String, Object> attributes)
            throws IOException {
        Map<String, Object> fields = new LinkedHashMap<>();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            JsonToken value = json.nextToken();
            if (value == JsonToken.VALUE_NUMBER_INT) {
                fields.put(name, json.getLongValue());
            } else if (value == JsonToken.VALUE_STRING && name.endsWith(ExportReader.BASE64)) {
                fields.put(withoutBase64(name), json.getBinaryValue());
            } else if (value == JsonToken.VALUE_STRING) {
                fields.put(name, json.getText().getBytes(UTF_8));
            } else if (value == JsonToken.START_OBJECT && attributes != null && name.equals("attributes")) {
                attributes.putAll(object(json, null));
            } else {
                throw new JsonParseException(json, "the field '" + name + "' is neither a number nor a text");
            }
        }
        if (json.currentToken() != JsonToken.END_OBJECT) {
            throw new IOException("an object does not end");
        }
        return fields;
    }

    private static String withoutBase64(String name) {
        return name.substring(0, name.length() - ExportReader.BASE64.length());
    }

    String type() throws IOException {
        return text("type");
    }

    /** Whether the value of a field is this text. */
    boolean has(String field, String text) {
        return fields.get(field) instanceof byte[] bytes && new String(bytes, UTF_8).equals(text);
    }

    String text(String field) throws IOException {
        return new String(bytes(field), UTF_8);
    }

    /** Returns the bytes of a field, which was a text or in Base64. */
    byte[] bytes(String field) throws IOException {
        if (fields.get(field) instanceof byte[] bytes) {
            return bytes;
        }
        throw new IOException("the export is damaged: a line has no text '" + field + "'");
    }

    long number(String field) throws IOException {
        if (fields.get(field) instanceof Long number) {
            return number;
        }
        throw new IOException("the export is damaged: a line has no number '" + field + "'");
    }

    /** Returns the description of the document that starts with this line. The id is 0. */
    Description description() throws IOException {
        return new Description(0, number("first"), number("next"), -1, attributes);
    }
}
