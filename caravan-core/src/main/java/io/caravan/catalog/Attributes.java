package io.caravan.catalog;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a document: a small sorted map from short ASCII keys to byte strings. Immutable.
 *
 * <p>In memory, they are kept in the encoding of the catalog entry, because a million documents may have attributes,
 * few of which are ever read. The encoding contains, for each attribute, in the order of the keys:
 *
 * <pre>
 *   0             1                   1+k                 3+k
 *   +-------------+-------------------+-------------------+-------------------+
 *   | key bytes k | key, ASCII        | value bytes v     | value             |
 *   +-------------+-------------------+-------------------+-------------------+
 * </pre>
 *
 * <p>The encoding is valid if:
 *
 * <ul>
 *   <li>(1) every length lies within the encoding;
 *   <li>(2) every key consists of 1 to 64 printable ASCII characters;
 *   <li>(3) the keys are in ascending order without duplicates;
 *   <li>(4) it is at most {@value #MAX_BYTES} bytes long.
 * </ul>
 */
public final class Attributes {
    /** Maximum length of a key, in characters. */
    public static final int MAX_KEY_CHARS = 64;
    /** Maximum total encoded length of a document's attributes, in bytes. */
    public static final int MAX_BYTES = 16 * 1024;

    /** The empty set of attributes. */
    public static final Attributes EMPTY = new Attributes(new byte[0]);

    private final byte[] encoded;

    private Attributes(byte[] encoded) {
        this.encoded = encoded;
    }

    /**
     * Decodes the attributes of a document.
     *
     * @throws IllegalArgumentException if the encoding is not valid; the message names the violated condition
     */
    public static Attributes decode(byte[] encoded) {
        if (encoded.length == 0) {
            return EMPTY;
        }
        checkSize(encoded.length);
        String previous = "";
        int at = 0;
        while (at < encoded.length) {
            check(valueAt(encoded, at) <= encoded.length, "an attribute's key is cut off");
            String key = key(encoded, at);
            checkKey(key);
            check(previous.compareTo(key) < 0, "the attributes' keys do not rise");
            previous = key;
            at = next(encoded, at);
        }
        check(at == encoded.length, "an attribute's value is cut off");
        return new Attributes(encoded);
    }

    /** Checks only condition 4, so that callers reject oversized attributes before they copy them. */
    static void checkSize(long bytes) {
        check(bytes <= MAX_BYTES, "attributes of " + bytes + " bytes are over the limit of " + MAX_BYTES);
    }

    static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static void checkKey(String key) {
        check(
                !key.isEmpty() && key.length() <= MAX_KEY_CHARS && key.chars().allMatch(c -> c > ' ' && c < 0x7F),
                "an attribute's key must have 1 to " + MAX_KEY_CHARS + " printable ASCII characters: '" + key + "'");
    }

    private static int keyBytes(byte[] encoded, int at) {
        return encoded[at] & 0xFF;
    }

    private static String key(byte[] encoded, int at) {
        return new String(encoded, at + 1, keyBytes(encoded, at), StandardCharsets.ISO_8859_1);
    }

    private static int valueAt(byte[] encoded, int at) {
        return at + 1 + keyBytes(encoded, at) + Short.BYTES;
    }

    private static int next(byte[] encoded, int at) {
        int valueAt = valueAt(encoded, at);
        return valueAt + (encoded[valueAt - 2] & 0xFF) + ((encoded[valueAt - 1] & 0xFF) << Byte.SIZE);
    }

    private static byte[] value(byte[] encoded, int at) {
        return Arrays.copyOfRange(encoded, valueAt(encoded, at), next(encoded, at));
    }

    /** Returns a copy of the value of the attribute with this key, or null if there is none. */
    public byte @Nullable [] get(String key) {
        for (int at = 0; at < encoded.length; at = next(encoded, at)) {
            if (isKey(key, at)) {
                return value(encoded, at);
            }
        }
        return null;
    }

    /**
     * Whether the encoded key at this offset equals {@code key}. Compares in place, without decoding: every append
     * looks up several attributes, and documents have only a few.
     */
    private boolean isKey(String key, int at) {
        if (keyBytes(encoded, at) != key.length()) {
            return false;
        }
        for (int i = 0; i < key.length(); i++) {
            if (encoded[at + 1 + i] != key.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns a copy in which this attribute is added, or replaces the attribute with the same key.
     *
     * @throws IllegalArgumentException if the key does not consist of 1 to 64 printable ASCII characters, or if all
     *     attributes together would exceed {@value #MAX_BYTES} bytes
     */
    public Attributes with(String key, byte[] value) {
        checkKey(key);
        SortedMap<String, byte[]> map = new TreeMap<>(asMap());
        map.put(key, value);
        return encode(map);
    }

    /** Returns a copy without the attribute that has this key. */
    public Attributes without(String key) {
        SortedMap<String, byte[]> map = new TreeMap<>(asMap());
        return map.remove(key) == null ? this : encode(map);
    }

    private static Attributes encode(SortedMap<String, byte[]> map) {
        long bytes = 0;
        for (var attribute : map.entrySet()) {
            bytes += 1 + attribute.getKey().length() + Short.BYTES + attribute.getValue().length;
        }
        checkSize(bytes);
        ByteBuffer encoded = ByteBuffer.allocate((int) bytes).order(ByteOrder.LITTLE_ENDIAN);
        map.forEach((key, value) -> encoded.put((byte) key.length())
                .put(key.getBytes(StandardCharsets.ISO_8859_1))
                .putShort((short) value.length)
                .put(value));
        return bytes == 0 ? EMPTY : new Attributes(encoded.array());
    }

    /** Returns a map that contains copies of all attributes. */
    public SortedMap<String, byte[]> asMap() {
        SortedMap<String, byte[]> map = new TreeMap<>();
        for (int at = 0; at < encoded.length; at = next(encoded, at)) {
            map.put(key(encoded, at), value(encoded, at));
        }
        return Collections.unmodifiableSortedMap(map);
    }

    /** Returns the encoded attributes. The caller must not change the array. */
    public byte[] encoded() {
        return encoded;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Attributes attributes && Arrays.equals(encoded, attributes.encoded);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(encoded);
    }

    @Override
    public String toString() {
        return asMap().keySet().toString();
    }
}
