package io.caravan.server.protocol.http.codec;

import java.util.Locale;

/**
 * A place in a stream, as clients see it: sixteen digits of the sequence of the value that follows, {@code _}, and sixteen
 * digits of a byte in that value. We only ever name the start of a value, so the second number is zero. Compared as text,
 * offsets are in the order of their places.
 */
public final class Offset {
    /** The place before everything that is retained, as clients may write it. */
    static final String BEGINNING = "-1";
    /** The place behind everything, as clients may write it. */
    static final String NOW = "now";

    private static final int DIGITS = 16;
    private static final int LENGTH = 2 * DIGITS + 1;
    private static final String START_OF_VALUE = "_" + "0".repeat(DIGITS);

    private Offset() {}

    /** The offset of the value with this sequence, whether it is there yet or not. */
    public static String of(long sequence) {
        return String.format(Locale.ROOT, "%0" + DIGITS + "d", sequence) + START_OF_VALUE;
    }

    /**
     * The sequence that an offset names; neither of the words for a place is one.
     *
     * @param parameter where it was given, for the message
     * @throws ProblemException when it is not an offset that we gave out
     */
    public static long sequence(String token, String parameter) {
        if (!wellFormed(token)) {
            throw ProblemException.badRequest(
                    "invalid_offset", parameter + " is not an offset; give back one that a response told, unchanged");
        }
        return Long.parseLong(token.substring(0, DIGITS));
    }

    private static boolean wellFormed(String token) {
        if (token.length() != LENGTH || !token.endsWith(START_OF_VALUE)) {
            return false;
        }
        for (int i = 0; i < DIGITS; i++) {
            if (token.charAt(i) < '0' || token.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }
}
