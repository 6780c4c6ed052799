package io.caravan.server.archive.format;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.fasterxml.jackson.annotation.JacksonAnnotationsInside;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.util.StdConverter;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/**
 * The format of a small object: one line of JSON, and a second line with the CRC-32C of the first, which detects
 * flipped bits.
 *
 * <pre>
 *   {"format":"caravan-manifest","version":1, ... }
 *   crc32c:0123abcd
 * </pre>
 *
 * <p>The JSON begins with format and version. Their places, and the second line, are the same in every version. An
 * object of the version that this release reads must have every field and no others. Objects are rewritten after they
 * are read, so an unknown field would be lost. Thread-safe.
 *
 * @param <T> a record of the JSON's fields
 */
final class SealedJson<T> {
    private static final String FORMAT = "format";
    private static final String VERSION = "version";
    private static final String SEAL = "crc32c:";
    private static final int SEAL_BYTES = SEAL.length() + 2 * Integer.BYTES + 1;

    private static final Pattern HEX_NUMBER = Pattern.compile("[0-9a-f]{16}");

    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .build()
            .setDefaultSetterInfo(JsonSetter.Value.forValueNulls(Nulls.FAIL, Nulls.FAIL));

    private final Class<T> type;
    private final String format;
    private final int version;
    private final int maxBytes;

    /** Creates a codec for one version of a format; it reads objects of up to {@code maxBytes}. */
    SealedJson(Class<T> type, String format, int version, int maxBytes) {
        this.type = type;
        this.format = format;
        this.version = version;
        this.maxBytes = maxBytes;
    }

    byte[] encode(T fields) {
        byte[] json;
        try {
            json = MAPPER.writeValueAsBytes(fields);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("cannot be written as JSON: " + fields, impossible);
        }
        byte[] bytes = Arrays.copyOf(json, json.length + 1 + SEAL_BYTES);
        bytes[json.length] = '\n';
        System.arraycopy(seal(bytes, json.length + 1), 0, bytes, json.length + 1, SEAL_BYTES);
        return bytes;
    }

    private static byte[] seal(byte[] bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, length);
        return (SEAL + HexFormat.of().toHexDigits((int) crc.getValue()) + "\n").getBytes(ISO_8859_1);
    }

    /**
     * Decodes an object into its fields.
     *
     * @param object its key or address, for messages
     * @throws ArchiveException {@code CORRUPT} or {@code VERSION}
     */
    T decode(byte[] bytes, String object) {
        int end = bytes.length - SEAL_BYTES;
        check(bytes.length <= maxBytes, object, "it has " + bytes.length + " bytes, and the maximum is " + maxBytes);
        check(end > 0 && bytes[end - 1] == '\n', object, "it does not end with a checksum: it may be cut off");
        check(
                Arrays.equals(bytes, end, bytes.length, seal(bytes, end), 0, SEAL_BYTES),
                object,
                "its checksum is wrong");
        try {
            checkVersion(bytes, end, object);
            return MAPPER.readValue(bytes, 0, end, type);
        } catch (IOException invalid) {
            String firstLine =
                    String.valueOf(invalid.getMessage()).lines().findFirst().orElse("");
            throw ArchiveException.corrupt(object, "its JSON is wrong: " + firstLine);
        }
    }

    private void checkVersion(byte[] bytes, int end, String object) throws IOException {
        try (JsonParser parser = MAPPER.createParser(bytes, 0, end)) {
            boolean named = parser.nextToken() == JsonToken.START_OBJECT
                    && FORMAT.equals(parser.nextFieldName())
                    && format.equals(parser.nextTextValue());
            check(named, object, "it does not begin with the format " + format);
            boolean versioned =
                    VERSION.equals(parser.nextFieldName()) && parser.nextToken() == JsonToken.VALUE_NUMBER_INT;
            check(versioned, object, "its format is not followed by a version");
            if (parser.getLongValue() != version) {
                throw ArchiveException.version(object, parser.getLongValue(), version, version);
            }
        }
    }

    private static void check(boolean holds, String object, String otherwise) {
        if (!holds) {
            throw ArchiveException.corrupt(object, otherwise);
        }
    }

    /** Parses a store's identity; throws an {@link IllegalArgumentException} when its form is not canonical. */
    static UUID store(String text) {
        UUID store = UUID.fromString(text);
        if (!store.toString().equals(text)) {
            throw new IllegalArgumentException("'" + text + "' is not the identity of a store");
        }
        return store;
    }

    /** Marks a 64-bit number written as 16 hexadecimal digits, because some JSON readers lack 64-bit integers. */
    @Retention(RetentionPolicy.RUNTIME)
    @JacksonAnnotationsInside
    @JsonSerialize(converter = ToHex.class)
    @JsonDeserialize(converter = FromHex.class)
    @interface Hex {}

    private static final class ToHex extends StdConverter<Long, String> {
        @Override
        public String convert(Long number) {
            return HexFormat.of().toHexDigits(number);
        }
    }

    private static final class FromHex extends StdConverter<String, Long> {
        @Override
        public Long convert(String text) {
            if (!HEX_NUMBER.matcher(text).matches()) {
                throw new IllegalArgumentException("'" + text + "' does not have 16 hexadecimal digits");
            }
            return HexFormat.fromHexDigitsToLong(text);
        }
    }
}
