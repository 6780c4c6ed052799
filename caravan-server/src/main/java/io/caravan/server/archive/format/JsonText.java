package io.caravan.server.archive.format;

import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Values that JSON has no type for, as text, each in one form only. What has another is an IllegalArgumentException.
 */
final class JsonText {
    private static final Pattern NUMBER = Pattern.compile("[0-9a-f]{16}");

    private JsonText() {}

    /** A number of 64 bits as 16 hexadecimal digits. */
    static String of(long number) {
        return HexFormat.of().toHexDigits(number);
    }

    static long number(String text) {
        if (!NUMBER.matcher(text).matches()) {
            throw new IllegalArgumentException("'" + text + "' is not of 16 hexadecimal digits");
        }
        return HexFormat.fromHexDigitsToLong(text);
    }

    /** A store's identity. */
    static UUID store(String text) {
        UUID store = UUID.fromString(text);
        if (!store.toString().equals(text)) {
            throw new IllegalArgumentException("'" + text + "' is no identity of a store");
        }
        return store;
    }
}
