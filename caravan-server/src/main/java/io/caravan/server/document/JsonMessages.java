package io.caravan.server.document;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException.Reason;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Splits request bodies into the messages of a JSON document, and validates values. Each message is one value: a JSON
 * text, stored byte for byte as it was sent, with a nesting depth of at most {@value #MAX_DEPTH}. Numbers, names, and
 * strings may have any length that fits in the text, because they are not converted here.
 */
public final class JsonMessages {
    static final int MAX_DEPTH = 512;

    /** The parsed bytes after which a factory is replaced, because it keeps all names that its parsers read. */
    private static final long FACTORY_BYTES = 4L * 1024 * 1024;

    static volatile Factory current = new Factory();

    static final class Factory {
        /** The parser factory, which accepts only UTF-8, because messages are concatenated byte by byte. */
        private final JsonFactory json = JsonFactory.builder()
                .disable(JsonFactory.Feature.CHARSET_DETECTION)
                .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(MAX_DEPTH)
                        .maxStringLength(Integer.MAX_VALUE)
                        .maxNumberLength(Integer.MAX_VALUE)
                        .maxNameLength(Integer.MAX_VALUE)
                        .build())
                .build();

        private final AtomicLong bytes = new AtomicLong();
    }

    private static JsonParser parser(byte[] text) throws IOException {
        Factory factory = current;
        if (factory.bytes.addAndGet(text.length) > FACTORY_BYTES) {
            current = new Factory();
        }
        return factory.json.createParser(text);
    }

    private JsonMessages() {}

    /**
     * Passes the messages of a body to an action: the elements of an array, or the single value of any other body. If
     * the body is not valid JSON, the messages before the error have already been passed.
     *
     * @param action receives each message; may throw to stop
     * @throws DocumentException {@link Reason#NOT_JSON}
     */
    public static void forEach(DocumentName name, byte[] body, Consumer<byte[]> action) {
        parse(name, body, action);
    }

    /** Parses a single value or, if there is an action, the messages of a body. */
    private static void parse(DocumentName name, byte[] body, @Nullable Consumer<byte[]> action) {
        try (JsonParser parser = parser(body)) {
            if (parser.nextToken() == JsonToken.START_ARRAY && action != null) {
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    action.accept(message(parser, body));
                }
                checkEnd(name, parser);
                return;
            }
            finishValue(parser);
            checkEnd(name, parser);
            if (action != null) {
                action.accept(stripped(body));
            }
        } catch (StreamConstraintsException tooDeep) {
            throw new DocumentException(
                    Reason.NOT_JSON, name, "accepts only JSON that is nested at most " + MAX_DEPTH + " deep");
        } catch (IOException | IllegalArgumentException problem) {
            throw notJson(name, problem.getMessage());
        }
    }

    /** Returns the bytes of the JSON value that begins at the parser's current token. */
    private static byte[] message(JsonParser parser, byte[] body) throws IOException {
        int from = (int) parser.currentTokenLocation().getByteOffset();
        finishValue(parser);
        return Arrays.copyOfRange(body, from, (int) parser.currentLocation().getByteOffset());
    }

    /** Returns a valid body without the white space around its value, or the body itself if there is none. */
    private static byte[] stripped(byte[] body) {
        int from = 0;
        int to = body.length;
        while (Character.isWhitespace(body[from])) {
            from++;
        }
        while (Character.isWhitespace(body[to - 1])) {
            to--;
        }
        return to - from == body.length ? body : Arrays.copyOfRange(body, from, to);
    }

    private static void finishValue(JsonParser parser) throws IOException {
        if (parser.currentToken() == null) {
            throw new IllegalArgumentException("it ends before a value");
        }
        parser.skipChildren();
        // Makes the parser read the rest of a string, number, or word now, so that it detects errors.
        parser.finishToken();
    }

    /**
     * Checks that each value is a single JSON text.
     *
     * @throws DocumentException {@link Reason#NOT_JSON}
     */
    public static void validate(DocumentName name, List<byte[]> values) {
        values.forEach(value -> parse(name, value, null));
    }

    private static void checkEnd(DocumentName name, JsonParser parser) throws IOException {
        if (parser.nextToken() != null) {
            throw notJson(name, "more than one value");
        }
    }

    private static DocumentException notJson(DocumentName name, @Nullable String problem) {
        String line = problem == null ? "" : problem.lines().findFirst().orElse("");
        // Jackson's message describes its input to a programmer.
        line = line.replaceAll("\\[Source: [^;]*; ", "[");
        return new DocumentException(Reason.NOT_JSON, name, "accepts only JSON, and this is not JSON: " + line);
    }
}
