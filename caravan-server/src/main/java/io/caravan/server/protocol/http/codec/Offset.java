package io.caravan.server.protocol.http.codec;

import io.caravan.server.document.DocumentInfo;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A place in a stream that a client gives: a value, the first retained one, or the end.
 *
 * <p>In text, a value's offset is sixteen digits of its sequence, {@code _}, and sixteen digits of a byte within it.
 * Texts sort in the order of their places. The server gives only offsets whose byte is zero. As the protocol's own
 * server does, it also takes others, which stand for the start of the value that they are in: gateways add 1 to
 * continue after an offset.
 */
public final class Offset {
    private static final String DIGITS = "[0-9]{16}";
    private static final Pattern VALUE = Pattern.compile(DIGITS + "_" + DIGITS);
    private static final int SEQUENCE_DIGITS = 16;

    private static final Offset BEGINNING = new Offset(-1);
    private static final Offset NOW = new Offset(-2);

    private final long sequence;

    private Offset(long sequence) {
        this.sequence = sequence;
    }

    /** The text for the value with this sequence, whether it exists yet or not. */
    public static String of(long sequence) {
        return String.format(Locale.ROOT, "%016d_%016d", sequence, 0);
    }

    /**
     * The sequence of the value that an offset names, given in this parameter; {@code -1} and {@code now} name none.
     * Throws {@link Problem} when it is malformed.
     */
    public static long sequence(String text, String parameter) {
        if (!VALUE.matcher(text).matches()) {
            throw Problem.badRequest(
                    "invalid_offset", parameter + " is not an offset; send one from a response, unchanged");
        }
        return Long.parseLong(text.substring(0, SEQUENCE_DIGITS));
    }

    /**
     * An offset given in this parameter, {@code -1} or null for the first retained value, or {@code now} for the end.
     * Throws {@link Problem} when it is malformed.
     */
    public static Offset parse(@Nullable String text, String parameter) {
        if (text == null || text.equals("-1")) {
            return BEGINNING;
        }
        return text.equals("now") ? NOW : new Offset(sequence(text, parameter));
    }

    public boolean isNow() {
        return this == NOW;
    }

    /**
     * The sequence that this stands for in a stream, or the first retained one when it was trimmed. Throws {@link
     * Problem} when the stream has not reached this offset.
     */
    public long atLeastFirstIn(DocumentInfo info) {
        return sequence >= 0 && sequence < info.firstSequence() ? info.firstSequence() : in(info);
    }

    /**
     * The sequence of the value to read first. Throws {@link Problem} when it was trimmed, or the stream has not
     * reached this offset.
     */
    public long in(DocumentInfo info) {
        if (this == BEGINNING) {
            return info.firstSequence();
        }
        if (this == NOW) {
            return info.nextSequence();
        }
        checkRetained(sequence, info);
        if (sequence > info.nextSequence()) {
            throw Problem.badRequest(
                    "offset_beyond_tail",
                    "the stream has not reached this offset: it ends at " + of(info.nextSequence()));
        }
        return sequence;
    }

    /** Checks that no value was trimmed from this sequence on. Throws {@link Problem} when one was. */
    public static void checkRetained(long sequence, DocumentInfo info) {
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
