package io.caravan.server.protocol.http.codec;

import io.caravan.server.document.DocumentInfo;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.jspecify.annotations.Nullable;

/** Where in a stream a client wants to begin: at a sequence, at the first retained value, or behind the last. */
public final class Position {
    private static final long BEGINNING = -1;
    private static final long NOW = -2;

    private final long sequence;

    private Position(long sequence) {
        this.sequence = sequence;
    }

    /**
     * A position as a client gives it.
     *
     * @param token null for the beginning
     * @param parameter where it was given, for the message
     * @throws ProblemException when it is none
     */
    public static Position parse(@Nullable String token, String parameter) {
        if (token == null || token.equals(Offset.BEGINNING)) {
            return new Position(BEGINNING);
        }
        return new Position(token.equals(Offset.NOW) ? NOW : Offset.sequence(token, parameter));
    }

    public boolean isNow() {
        return sequence == NOW;
    }

    /**
     * The sequence that it stands for, whether the values before it were trimmed or not.
     *
     * @throws ProblemException when the stream never gave out such an offset
     */
    public long atMostIn(DocumentInfo info) {
        return sequence >= 0 && sequence < info.firstSequence() ? info.firstSequence() : in(info);
    }

    /**
     * The sequence of the next value that the client wants.
     *
     * @throws ProblemException when the stream does not hold it any more, or never gave out such an offset
     */
    public long in(DocumentInfo info) {
        if (sequence == BEGINNING) {
            return info.firstSequence();
        }
        if (sequence == NOW) {
            return info.nextSequence();
        }
        checkRetained(sequence, info);
        if (sequence > info.nextSequence()) {
            throw ProblemException.badRequest(
                    "offset_beyond_tail", "the stream has not got there: it ends at " + Offset.of(info.nextSequence()));
        }
        return sequence;
    }

    /**
     * Checks that no value from a sequence on was trimmed.
     *
     * @throws ProblemException when one was
     */
    public static void checkRetained(long sequence, DocumentInfo info) {
        if (sequence < info.firstSequence()) {
            throw new ProblemException(new Problem(
                            HttpResponseStatus.GONE,
                            "offset_trimmed",
                            "the values from this offset on were trimmed; the first that is left is at "
                                    + Offset.of(info.firstSequence()))
                    .with(StreamHeaders.FIRST_OFFSET, Offset.of(info.firstSequence())));
        }
    }
}
