package io.caravan.server.protocol.http.endpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.StreamName;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A body that is an object with one array of objects: <code>{"operations": [{"path": ..., ...}, ...]}</code>. Parsing
 * stops when a limit is exceeded.
 */
abstract class JsonBody<T> {
    /** The field with the path of the stream. */
    static final String PATH = "path";

    private static final int MAX_DEPTH = 8;
    /** Longer than any valid field name. Limited because the factory caches thousands of names, even invalid names. */
    private static final int MAX_NAME_CHARS = 128;

    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNameLength(MAX_NAME_CHARS)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build())
            .build();

    final JsonParser json;
    private final String array;
    private final String element;
    private final String code;
    private final List<T> elements = new ArrayList<>();

    /**
     * Creates a body that is read from this parser.
     *
     * @param array the name of the array
     * @param element the name of an element, for messages
     * @param code the code of the problem if the body is malformed
     */
    JsonBody(JsonParser json, String array, String element, String code) {
        this.json = json;
        this.array = array;
        this.element = element;
        this.code = code;
    }

    static JsonParser parser(byte[] body) {
        try {
            return JSON.createParser(body);
        } catch (IOException impossible) {
            throw new IllegalStateException("an array of bytes cannot be read", impossible);
        }
    }

    /** Returns the first stream in a body, or null if there is none; the complete parse then rejects the body. */
    static @Nullable DocumentName firstName(byte[] body) {
        try (JsonParser json = parser(body)) {
            while (json.nextToken() != null) {
                if (json.currentToken() == JsonToken.VALUE_STRING && PATH.equals(json.currentName())) {
                    String path = json.getText();
                    return path.startsWith(StreamName.PREFIX)
                            ? StreamName.of(path.substring(StreamName.PREFIX.length()))
                            : null;
                }
            }
            return null;
        } catch (IOException | Problem wrong) {
            return null;
        }
    }

    /**
     * Reads the elements, at least one, and closes the parser.
     *
     * @throws Problem if the body is malformed, or exceeds a limit
     */
    final List<T> read(int most, Problem tooMany) {
        try (json) {
            return elements(most, tooMany);
        } catch (StreamConstraintsException overLimit) {
            throw invalid("the body must be nested at most " + MAX_DEPTH + " deep, with names of at most "
                    + MAX_NAME_CHARS + " characters and numbers of at most 1,000 digits");
        } catch (IOException notJson) {
            String line =
                    String.valueOf(notJson.getMessage()).lines().findFirst().orElse("");
            throw invalid("the body is not JSON: " + line);
        }
    }

    private List<T> elements(int most, Problem tooMany) throws IOException {
        require(json.nextToken() == JsonToken.START_OBJECT, "the body must be an object");
        require(array.equals(json.nextFieldName()), "the body must have one field, " + array);
        require(json.nextToken() == JsonToken.START_ARRAY, array + " must be an array");
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (elements.size() == most) {
                throw tooMany;
            }
            require(json.currentToken() == JsonToken.START_OBJECT, where() + " must be an object");
            elements.add(element());
        }
        require(json.nextToken() == JsonToken.END_OBJECT, "the body must have one field, " + array);
        require(json.nextToken() == null, "there must be nothing after the object");
        require(!elements.isEmpty(), array + " must hold one at least");
        return elements;
    }

    /** Reads an element up to its end. */
    abstract T element() throws IOException;

    /** Returns the value of a field, which is a string. */
    final String string(String field) throws IOException {
        require(json.currentToken() == JsonToken.VALUE_STRING, where() + ": " + field + " must be a string");
        return json.getText();
    }

    final boolean flag(String field) throws IOException {
        require(json.currentToken().isBoolean(), where() + ": " + field + " must be true or false");
        return json.getBooleanValue();
    }

    final DocumentName name(@Nullable String path) {
        if (path == null || !path.startsWith(StreamName.PREFIX)) {
            throw invalid(where() + " must have a path, that of a stream, which begins with " + StreamName.PREFIX);
        }
        return StreamName.of(path.substring(StreamName.PREFIX.length()));
    }

    /** Returns the position of the element that is being read, for messages. */
    final String where() {
        return element + " " + (elements.size() + 1);
    }

    final void require(boolean holds, String otherwise) {
        if (!holds) {
            throw invalid(otherwise);
        }
    }

    final Problem unknown(String field) {
        return invalid(where() + " has an unknown field, " + DocumentName.printable(field));
    }

    final Problem invalid(String detail) {
        return Problem.badRequest(code, detail);
    }
}
