package io.caravan.catalog;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Locale;

/**
 * The name of a document: 1 to 1,024 arbitrary bytes.
 *
 * <p>The hash is keyed with a secret that is chosen at random at each start, so that a client cannot choose names whose
 * hashes collide. The hash must therefore never be stored.
 */
public final class DocumentName {
    /** Maximum length of a name, in bytes. */
    public static final int MAX_BYTES = 1024;

    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long SECRET = new SecureRandom().nextLong();
    private static final long SECRET_FACTOR = new SecureRandom().nextLong() | 1;

    private final byte[] bytes;
    private final int hash;

    private DocumentName(byte[] bytes) {
        this.bytes = bytes;
        this.hash = hash(bytes);
    }

    /**
     * Returns the name with these bytes, which are not copied and must not change.
     *
     * @throws IllegalArgumentException if the number of bytes is not from 1 to 1,024
     */
    public static DocumentName of(byte[] bytes) {
        if (bytes.length < 1 || bytes.length > MAX_BYTES) {
            throw new IllegalArgumentException(
                    "a document's name must have 1 to " + MAX_BYTES + " bytes, has " + bytes.length);
        }
        return new DocumentName(bytes);
    }

    /** Returns the name whose bytes are the UTF-8 encoding of this string. */
    public static DocumentName of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns a copy of the name's bytes. */
    public byte[] toBytes() {
        return bytes.clone();
    }

    byte[] bytes() {
        return bytes;
    }

    /** Whether the name starts with these bytes. */
    public boolean startsWith(byte[] prefix) {
        return bytes.length >= prefix.length && Arrays.equals(bytes, 0, prefix.length, prefix, 0, prefix.length);
    }

    /**
     * Compares the name with other bytes, byte by byte, as unsigned numbers. A name that is a prefix of the other comes
     * first.
     */
    public int compareTo(byte[] other) {
        return Arrays.compareUnsigned(bytes, other);
    }

    /**
     * Computes the hash of a name: multiplies each word by a secret factor, and combines the halves of the 128-bit
     * product.
     */
    static int hash(byte[] bytes) {
        long hash = SECRET ^ bytes.length;
        int at = 0;
        for (; at + Long.BYTES <= bytes.length; at += Long.BYTES) {
            hash = fold(hash ^ (long) WORD.get(bytes, at));
        }
        long tail = 0;
        for (; at < bytes.length; at++) {
            tail = tail << Byte.SIZE | bytes[at] & 0xFF;
        }
        hash = fold(hash ^ tail);
        return (int) (hash ^ hash >>> Integer.SIZE);
    }

    private static long fold(long word) {
        // The high half of the unsigned product. That of the signed product is nearly the same for a word and its
        // negation, so a client could choose names whose hashes collide.
        long high = Math.multiplyHigh(word, SECRET_FACTOR)
                + (word >> Long.SIZE - 1 & SECRET_FACTOR)
                + (SECRET_FACTOR >> Long.SIZE - 1 & word);
        return high ^ word * SECRET_FACTOR;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DocumentName name && Arrays.equals(bytes, name.bytes);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** Returns the bytes as UTF-8 text. Control characters are not escaped: print {@link #toString()} instead. */
    public String text() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Returns the name as escaped text for messages and logs; see {@link #printable}. */
    @Override
    public String toString() {
        return printable(text());
    }

    /**
     * Escapes control characters and line separators, so that a client cannot choose a name that forges log lines or
     * controls a terminal. For example, a line feed becomes {@code \n}, and an escape character
     * <code>&#92;u001b</code>.
     */
    public static String printable(String text) {
        if (text.chars().noneMatch(DocumentName::isControl)) {
            return text;
        }
        StringBuilder printable = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '\n' -> printable.append("\\n");
                case '\r' -> printable.append("\\r");
                case '\t' -> printable.append("\\t");
                default -> printable.append(isControl(c) ? String.format(Locale.ROOT, "\\u%04x", (int) c) : c);
            }
        }
        return printable.toString();
    }

    private static boolean isControl(int c) {
        int type = Character.getType(c);
        return type == Character.CONTROL || type == Character.LINE_SEPARATOR || type == Character.PARAGRAPH_SEPARATOR;
    }
}
