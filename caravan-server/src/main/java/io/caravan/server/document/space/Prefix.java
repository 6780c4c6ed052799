package io.caravan.server.document.space;

import io.caravan.catalog.DocumentName;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The prefix of the document names that belong to a space: 1 to {@value #MAX_BYTES} arbitrary bytes. Immutable. */
public final class Prefix implements Comparable<Prefix> {
    public static final int MAX_BYTES = 256;

    private final byte[] bytes;
    private final String label;

    private Prefix(byte[] bytes) {
        this.bytes = bytes;
        this.label = labelOf(bytes);
    }

    /**
     * Creates a prefix from these bytes, which are not copied and must not change.
     *
     * @throws IllegalArgumentException when the number of bytes is not from 1 to {@value #MAX_BYTES}
     */
    public static Prefix of(byte[] bytes) {
        if (bytes.length < 1 || bytes.length > MAX_BYTES) {
            throw new IllegalArgumentException(
                    "a space's prefix must have 1 to " + MAX_BYTES + " bytes, has " + bytes.length);
        }
        return new Prefix(bytes);
    }

    public byte[] toBytes() {
        return bytes.clone();
    }

    int length() {
        return bytes.length;
    }

    boolean startsWith(Prefix other) {
        return bytes.length >= other.bytes.length
                && Arrays.equals(bytes, 0, other.bytes.length, other.bytes, 0, other.bytes.length);
    }

    boolean begins(DocumentName name) {
        return name.startsWith(bytes);
    }

    boolean isAfter(DocumentName name) {
        return name.compareTo(bytes) < 0;
    }

    /**
     * Returns the prefix as unique text for users, logs, and metrics. A backslash is doubled, and control characters
     * are escaped. If the prefix is not UTF-8, each byte that is not printable ASCII becomes {@code \xHH}.
     */
    public String label() {
        return label;
    }

    private static String labelOf(byte[] bytes) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
            return DocumentName.printable(text.replace("\\", "\\\\"));
        } catch (CharacterCodingException notText) {
            return new String(bytes, StandardCharsets.ISO_8859_1)
                    .replace("\\", "\\\\")
                    .chars()
                    .mapToObj(c -> String.format(Locale.ROOT, c >= ' ' && c < 0x7F ? "%c" : "\\x%02x", c))
                    .collect(Collectors.joining());
        }
    }

    @Override
    public int compareTo(Prefix other) {
        return Arrays.compareUnsigned(bytes, other.bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Prefix prefix && Arrays.equals(bytes, prefix.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return label;
    }
}
