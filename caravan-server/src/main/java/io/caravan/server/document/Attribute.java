package io.caravan.server.document;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.function.Function;

/**
 * A type of attribute: its key in the catalog, and the encoding of its values. Numbers take 8 bytes, big-endian; text
 * is encoded in UTF-8.
 */
record Attribute<T>(String key, Function<T, byte[]> encoding, Function<ByteBuffer, T> decoding) {

    static Attribute<String> text(String key) {
        return new Attribute<>(key, text -> text.getBytes(UTF_8), Attribute::text);
    }

    static Attribute<Long> number(String key) {
        return new Attribute<>(key, number -> encode("", number), ByteBuffer::getLong);
    }

    /** Encodes numbers followed by a string as the value of an attribute. */
    static byte[] encode(String text, long... numbers) {
        return encode(text.getBytes(UTF_8), numbers);
    }

    /** Encodes numbers followed by bytes as the value of an attribute. */
    static byte[] encode(byte[] end, long... numbers) {
        ByteBuffer encoded = ByteBuffer.allocate(numbers.length * Long.BYTES + end.length);
        encoded.asLongBuffer().put(numbers);
        return encoded.position(numbers.length * Long.BYTES).put(end).array();
    }

    static long[] numbers(ByteBuffer encoded) {
        long[] numbers = new long[encoded.remaining() / Long.BYTES];
        encoded.asLongBuffer().get(numbers);
        return numbers;
    }

    static String text(ByteBuffer encoded) {
        return new String(bytes(encoded), UTF_8);
    }

    static byte[] bytes(ByteBuffer encoded) {
        byte[] bytes = new byte[encoded.remaining()];
        encoded.get(bytes);
        return bytes;
    }
}
