package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.protocol.resp.codec.CommandException;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/**
 * A pattern as Redis has them: {@code *} is any bytes, {@code ?} is one, {@code [a-c]} one of some, {@code [^a-c]} one
 * of all others, and a backslash takes the meaning from what follows it. A match takes at most the product of the two
 * lengths. Immutable.
 */
public final class Glob {
    /** Longer than any name, twice over for backslashes. */
    private static final int MAX_BYTES = 4096;

    private final byte[] pattern;

    /**
     * Takes a pattern, which is not copied and must not change.
     *
     * @throws CommandException when it is longer than any that could be meant
     */
    public Glob(byte[] pattern) {
        if (pattern.length > MAX_BYTES) {
            throw new CommandException("ERR a pattern must be of at most " + MAX_BYTES + " bytes");
        }
        this.pattern = pattern;
    }

    /** Whether the whole text is as the pattern says. */
    public boolean matches(byte[] text) {
        int at = 0;
        int in = 0;
        int afterStar = -1;
        int starredTo = 0;
        while (at < text.length) {
            if (in < pattern.length && pattern[in] == '*') {
                afterStar = ++in;
                starredTo = at;
            } else if (in < pattern.length && one(in, text[at])) {
                in = next(in);
                at++;
            } else if (afterStar >= 0) {
                // The last star takes one byte more. Earlier ones need not: what follows them has matched already.
                in = afterStar;
                at = ++starredTo;
            } else {
                return false;
            }
        }
        while (in < pattern.length && pattern[in] == '*') {
            in++;
        }
        return in == pattern.length;
    }

    /** The pattern's length, in bytes. */
    int length() {
        return pattern.length;
    }

    /** A copy of the pattern. */
    public byte[] toBytes() {
        return pattern.clone();
    }

    /** What everything that matches begins with, up to the pattern's first element that is not one certain byte. */
    byte[] beginning() {
        ByteArrayOutputStream beginning = new ByteArrayOutputStream(pattern.length);
        for (int in = 0; in < pattern.length && "*?[".indexOf(pattern[in]) < 0; in = next(in)) {
            beginning.write(pattern[escaped(in)]);
        }
        return beginning.toByteArray();
    }

    /** Whether the byte is as the pattern's element at a position says. */
    private boolean one(int in, byte b) {
        return switch (pattern[in]) {
            case '?' -> true;
            case '[' -> set(in, b);
            case '\\' -> in + 1 < pattern.length ? pattern[in + 1] == b : b == '\\';
            default -> pattern[in] == b;
        };
    }

    private boolean set(int open, byte b) {
        boolean negated = open + 1 < pattern.length && pattern[open + 1] == '^';
        boolean found = false;
        int in = open + (negated ? 2 : 1);
        while (in < pattern.length && pattern[in] != ']') {
            int from = in = escaped(in);
            if (in + 2 < pattern.length && pattern[in + 1] == '-') {
                in = escaped(in + 2);
            }
            int low = Math.min(pattern[from] & 0xFF, pattern[in] & 0xFF);
            int high = Math.max(pattern[from] & 0xFF, pattern[in] & 0xFF);
            found |= low <= (b & 0xFF) && (b & 0xFF) <= high;
            in++;
        }
        return found != negated;
    }

    /** Where the byte is that is meant at a position, be it in a set. */
    private int escaped(int in) {
        return pattern[in] == '\\' && in + 1 < pattern.length ? in + 1 : in;
    }

    /** Position of the element after the one at a position. A set that is not closed ends with the pattern, as in Redis. */
    private int next(int in) {
        if (pattern[in] == '\\') {
            return Math.min(in + 2, pattern.length);
        }
        if (pattern[in] != '[') {
            return in + 1;
        }
        int at = in + 1;
        while (at < pattern.length && pattern[at] != ']') {
            at = escaped(at) + 1;
        }
        return Math.min(at + 1, pattern.length);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Glob glob && Arrays.equals(pattern, glob.pattern);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(pattern);
    }
}
