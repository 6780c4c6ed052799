package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.CLOSED;
import static io.caravan.server.document.DocumentAttributes.ORIGIN;
import static io.caravan.server.document.DocumentAttributes.PRODUCERS;
import static io.caravan.server.document.DocumentAttributes.STREAM_SEQ;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The attributes of a document that are meaningful on any server, as a map from names to numbers or bytes. Input is
 * validated, because any client with write permission can send it. An attribute must not be longer than other writes
 * allow, so that space remains for the attributes that the store and the archive add.
 */
public final class PortableAttributes {
    /** Maximum length of a writer's sequence, in bytes: that of the longest one that an append over HTTP can set. */
    private static final int MAX_STREAM_SEQ_BYTES = 3 * AppendRequest.MAX_STREAM_SEQ_CHARS;

    private PortableAttributes() {}

    /** Returns a document's attributes by name: each is a {@link Long} or an array of bytes. */
    public static Map<String, Object> of(DocumentAttributes attributes) {
        Map<String, Object> portable = new LinkedHashMap<>(attributes.portable().asMap());
        portable.computeIfPresent(
                "ttl", (name, value) -> attributes.ttlSeconds().getAsLong());
        portable.computeIfPresent(
                "expires", (name, value) -> attributes.expiresAtMillis().getAsLong());
        return portable;
    }

    /**
     * Parses attributes given by name; numbers consist of decimal digits.
     *
     * @throws IllegalArgumentException when a name is unknown, or its value invalid
     */
    public static DocumentAttributes parse(Map<String, byte[]> given) {
        DocumentAttributes attributes = DocumentAttributes.NONE;
        for (Map.Entry<String, byte[]> attribute : given.entrySet()) {
            attributes = with(attributes, attribute.getKey(), attribute.getValue());
        }
        return attributes;
    }

    private static DocumentAttributes with(DocumentAttributes attributes, String name, byte[] value) {
        return switch (name) {
            case "content-type" ->
                attributes.withContentType(
                        ascii(value, "[ -~]{0,", CreateRequest.MAX_CONTENT_TYPE_CHARS, "a content type"));
            case "ttl" -> attributes.withTtlSeconds(decimal(name, value));
            case "expires" -> attributes.withExpiresAtMillis(decimal(name, value));
            case "closed" -> attributes.with(CLOSED, text(name, value, Producer.MAX_ID_BYTES));
            case "stream-seq" -> attributes.with(STREAM_SEQ, text(name, value, MAX_STREAM_SEQ_BYTES));
            case "producers" -> attributes.with(PRODUCERS, producers(value));
            case "origin" ->
                attributes.with(
                        ORIGIN, new Origin(ascii(value, "[!-~]{1,", Origin.MAX_CHARS, "the attribute 'origin'"), 0));
            default ->
                throw new IllegalArgumentException("this server knows no attribute '" + name
                        + "': it may be older than the one that had the document");
        };
    }

    private static void require(boolean valid, String otherwise) {
        if (!valid) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static String ascii(byte[] value, String pattern, int most, String what) {
        String text = text(value);
        require(
                text.matches(pattern + most + "}"),
                what + " must have at most " + most + " printable ASCII characters");
        return text;
    }

    private static long decimal(String name, byte[] value) {
        String text = new String(value, US_ASCII);
        // With 19 digits, a number that is too large becomes negative.
        long number = text.matches("[0-9]{1,19}") ? Long.parseUnsignedLong(text) : -1;
        require(number >= 0, "the attribute '" + name + "' must be a number below 2^63");
        return number;
    }

    private static Producers producers(byte[] value) {
        require(
                value.length <= Producers.MAX_BYTES,
                "the attribute 'producers' is longer than " + Producers.MAX_BYTES + " bytes");
        try {
            Producers producers = Producers.decode(ByteBuffer.wrap(value));
            requireText(Arrays.equals(producers.encode(), value), "producers");
            return producers;
        } catch (BufferUnderflowException | NegativeArraySizeException cutOff) {
            throw new IllegalArgumentException("the attribute 'producers' is cut off", cutOff);
        }
    }

    private static String text(String name, byte[] value, int maxBytes) {
        require(
                value.length <= maxBytes,
                "the attribute '" + name + "' may have at most " + maxBytes + " bytes, this has " + value.length);
        requireText(isText(value), name);
        return text(value);
    }

    private static void requireText(boolean text, String name) {
        require(text, "the attribute '" + name + "' must be text in UTF-8");
    }

    private static boolean isText(byte[] value) {
        return Arrays.equals(text(value).getBytes(UTF_8), value);
    }

    private static String text(byte[] value) {
        return new String(value, UTF_8);
    }
}
