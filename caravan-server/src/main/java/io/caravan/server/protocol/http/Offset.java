package io.caravan.server.protocol.http;

import io.caravan.server.document.DocumentInfo;
import org.jspecify.annotations.Nullable;

/**
 * A position in a stream, specified by a client: a value, the first retained value, or the end.
 *
 * <p>As text, the offset of a value consists of its sequence in sixteen digits, {@code _}, and a byte position within
 * the value in sixteen digits. The texts sort in the order of the positions. The server issues only offsets with byte
 * position zero. Like the reference server of the protocol, it accepts and ignores other byte positions, because
 * gateways add 1 to continue after an offset.
 */
public final class Offset {
    private static final int SEQUENCE_DIGITS = 16;
    private static final String ZEROS = "0".repeat(SEQUENCE_DIGITS);

    private static final Offset BEGINNING = new Offset(-1);
    private static final Offset NOW = new Offset(-2);

    private final long sequence;

    private Offset(long sequence) {
        this.sequence = sequence;
    }

    /** Returns the offset of the value with this sequence, as text. The value need not exist yet. */
    public static String of(long sequence) {
        // Each response contains offsets, and String.format would take longer than the rest of a small response.
        String digits = Long.toString(sequence);
        return ZEROS.substring(Math.min(digits.length(), SEQUENCE_DIGITS)) + digits + "_" + ZEROS;
    }

    /**
     * Returns the sequence in the offset of a value; {@code -1} and {@code now} are not allowed. If the offset is
     * malformed, throws a {@link Problem} that names the parameter.
     */
    static long sequence(String text, String parameter) {
        boolean separated = text.length() == 2 * SEQUENCE_DIGITS + 1 && text.charAt(SEQUENCE_DIGITS) == '_';
        long sequence = separated ? Request.parse(text.substring(0, SEQUENCE_DIGITS)) : -1;
        if (sequence < 0 || Request.parse(text.substring(SEQUENCE_DIGITS + 1)) < 0) {
            throw Problem.badRequest(
                    "invalid_offset", parameter + " is not an offset; send one from a response, unchanged");
        }
        return sequence;
    }

    /**
     * Parses an offset as {@link #sequence(String, String)} does. {@code -1} or null is the first retained value, and
     * {@code now} the end.
     */
    static Offset parse(@Nullable String text, String parameter) {
        if (text == null || text.equals("-1")) {
            return BEGINNING;
        }
        return text.equals("now") ? NOW : new Offset(sequence(text, parameter));
    }

    boolean isNow() {
        return this == NOW;
    }

    /** Returns the sequence in a stream as {@link #in} does, or that of the first retained value if it was trimmed. */
    long atLeastFirstIn(DocumentInfo info) {
        return sequence >= 0 && sequence < info.firstSequence() ? info.firstSequence() : in(info);
    }

    /** Returns the sequence in a stream. Throws {@link Problem} if it was trimmed or the stream has not reached it. */
    long in(DocumentInfo info) {
        if (this == BEGINNING) {
            return info.firstSequence();
        }
        if (this == NOW) {
            return info.nextSequence();
        }
        checkRetained(sequence, info);
        if (sequence > info.nextSequence()) {
            throw Problem.badRequest(
                    "offset_out_of_range",
                    "the stream has not reached this offset: it ends at " + of(info.nextSequence()));
        }
        return sequence;
    }

    /** Throws {@link Problem} if a value at or after this sequence was trimmed. */
    static void checkRetained(long sequence, DocumentInfo info) {
        if (sequence < info.firstSequence()) {
            String first = of(info.firstSequence());
            throw new Problem(
                            410,
                            "offset_trimmed",
                            "values from this offset on were trimmed; the first retained one is at " + first)
                    .with(StreamHeaders.FIRST_OFFSET, first);
        }
    }
}
