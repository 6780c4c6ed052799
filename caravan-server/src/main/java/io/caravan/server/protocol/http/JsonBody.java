package io.caravan.server.protocol.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.caravan.catalog.DocumentName;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Parses JSON bodies into records. Rejects unknown, repeated, and null fields, values of the wrong type, and bodies
 * that exceed a limit, before it allocates memory for the rest of the body.
 */
final class JsonBody {
    private static final String PATH = "path";

    private static final int MAX_DEPTH = 8;
    /**
     * The maximum length of a field name; all valid names are shorter. Limited because the factory caches thousands of
     * names, even invalid names.
     */
    private static final int MAX_NAME_CHARS = 128;
    /** The number of tokens besides values in the longest valid body: a thousand elements with all of their fields. */
    private static final int MAX_TOKENS_BESIDES_VALUES = 20_000;

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

    private static final ObjectMapper MAPPER = JsonMapper.builder(JSON)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .withCoercionConfigDefaults(coercions -> {
                for (CoercionInputShape shape : CoercionInputShape.values()) {
                    coercions.setCoercion(shape, CoercionAction.Fail);
                }
            })
            .build();

    private final long maxTokens;

    /** Creates a parser. The values of a body take at most {@code maxBatchBytes} in the log, including overhead. */
    JsonBody(long maxBatchBytes) {
        maxTokens = MAX_TOKENS_BESIDES_VALUES + maxBatchBytes / StreamWrites.MESSAGE_OVERHEAD_BYTES;
    }

    /**
     * A parser that rejects nulls, so that a condition that is null by mistake is not ignored. Also rejects bodies with
     * more tokens than the longest valid body, because many short values would take a multiple of the size of the body.
     */
    private static final class CheckedParser extends JsonParserDelegate {
        private long tokensLeft;

        CheckedParser(JsonParser parser, long maxTokens) {
            super(parser);
            tokensLeft = maxTokens;
        }

        @Override
        public JsonToken nextToken() throws IOException {
            JsonToken token = super.nextToken();
            if (token == JsonToken.VALUE_NULL) {
                throw new JsonParseException(this, "null is not a valid value");
            }
            if (--tokensLeft < 0) {
                throw new Problem(
                        413, "too_many_messages", "the body has too many values; send them in several requests");
            }
            return token;
        }
    }

    /** Parses a body into a record. Throws {@link Problem} with this code if the body is invalid. */
    <T> T parse(byte[] body, Class<T> type, String code) {
        try (JsonParser parser = new CheckedParser(MAPPER.createParser(body), maxTokens)) {
            return MAPPER.readValue(parser, type);
        } catch (IOException invalid) {
            throw invalid.getCause() instanceof Problem problem ? problem : Problem.badRequest(code, detail(invalid));
        }
    }

    private static String detail(IOException invalid) {
        Throwable cause = invalid.getCause() == null ? invalid : invalid.getCause();
        if (cause instanceof StreamConstraintsException limit) {
            return "the body must be nested at most " + MAX_DEPTH + " deep, with names of at most " + MAX_NAME_CHARS
                    + " characters and numbers of at most 1,000 digits: " + limit.getOriginalMessage();
        }
        if (invalid instanceof MismatchedInputException mismatch) {
            String where = DocumentName.printable(where(mismatch));
            return mismatch instanceof UnrecognizedPropertyException
                    ? "the field " + where + " is unknown"
                    : where.isEmpty()
                            ? "the body does not have the expected form"
                            : where + " has a wrong type or value";
        }
        String message =
                invalid instanceof JsonProcessingException json ? json.getOriginalMessage() : invalid.getMessage();
        return "the body is not JSON: "
                + String.valueOf(message).lines().findFirst().orElse("");
    }

    /** Returns the position of an invalid value in a body, for example {@code operations[1].append}. */
    private static String where(MismatchedInputException mismatch) {
        String path = mismatch.getPath().stream()
                .map(part -> part.getFieldName() == null ? "[" + part.getIndex() + "]" : "." + part.getFieldName())
                .collect(Collectors.joining());
        return path.startsWith(".") ? path.substring(1) : path;
    }

    /** Returns the name of the stream with this path. Throws {@link Problem} with the code if there is none. */
    static DocumentName name(@Nullable String path, String where, String code) {
        if (path == null || !path.startsWith(StreamName.PREFIX)) {
            throw Problem.badRequest(
                    code, where + " must have the path of a stream, which begins with " + StreamName.PREFIX);
        }
        return StreamName.of(path.substring(StreamName.PREFIX.length()));
    }

    /** Returns the name of the first stream in a body, or null if there is none, so that the body is invalid. */
    static @Nullable DocumentName firstName(byte[] body) {
        try (JsonParser json = JSON.createParser(body)) {
            while (json.nextToken() != null) {
                if (json.currentToken() == JsonToken.VALUE_STRING && PATH.equals(json.currentName())) {
                    return name(json.getText(), "", "");
                }
            }
            return null;
        } catch (IOException | Problem wrong) {
            return null;
        }
    }

    /**
     * Returns the elements of the list in a field. Throws {@link Problem} with the code if the list is absent or empty,
     * or if it has more than {@code most} elements.
     */
    static <T> List<T> elements(@Nullable List<T> given, String field, int most, String code) {
        if (given == null || given.isEmpty()) {
            throw Problem.badRequest(code, field + " must have at least one element");
        }
        if (given.size() > most) {
            throw new Problem(
                    413,
                    "too_many_" + field,
                    "a request has at most " + most + " " + field + "; send more in another request");
        }
        return given;
    }
}
