package io.caravan.server.protocol.resp;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/**
 * A pattern with the syntax of Redis: {@code *} matches any bytes, {@code ?} one byte, {@code [a-c]} one byte in a set,
 * {@code [^a-c]} one byte outside the set, and a backslash escapes the next byte. A match takes at most one step for
 * each byte of the pattern and each byte of the text. Immutable.
 */
final class Glob {
    /** The pattern that matches everything. */
    static final Glob ALL = new Glob(new byte[] {'*'});
    /** Maximum length of a pattern; enough for any document name with a backslash before each byte. */
    private static final int MAX_BYTES = 4096;

    private final byte[] pattern;

    /** Creates a pattern from bytes, which must not change. Throws a {@link CommandException} if there are too many. */
    Glob(byte[] pattern) {
        if (pattern.length > MAX_BYTES) {
            throw new CommandException("ERR a pattern has at most " + MAX_BYTES + " bytes");
        }
        this.pattern = pattern;
    }

    boolean matches(byte[] text) {
        int in = 0;
        // Only the last star needs to be tried at later positions: if the elements before it match the earliest
        // possible bytes, most bytes are left for those after it.
        int afterStar = -1;
        int retry = 0;
        int at = 0;
        while (at < text.length) {
            if (in < pattern.length && pattern[in] == '*') {
                afterStar = ++in;
                retry = at;
                continue;
            }
            in = in < pattern.length ? after(in, text[at] & 0xFF) : -1;
            at++;
            if (in < 0) {
                if (afterStar < 0) {
                    return false;
                }
                in = afterStar;
                at = ++retry;
            }
        }
        while (in < pattern.length && pattern[in] == '*') {
            in++;
        }
        return in == pattern.length;
    }

    /** Returns the position after the element at the given one if the element matches the byte; otherwise -1. */
    private int after(int in, int b) {
        if (pattern[in] == '?') {
            return in + 1;
        }
        if (pattern[in] == '[') {
            return afterSet(in + 1, b);
        }
        int literal = escaped(in);
        return (pattern[literal] & 0xFF) == b ? literal + 1 : -1;
    }

    /** Does the same for a set, which begins after a bracket. An unclosed set ends with the pattern, as in Redis. */
    private int afterSet(int first, int b) {
        boolean negated = first < pattern.length && pattern[first] == '^';
        boolean found = false;
        int in = negated ? first + 1 : first;
        while (in < pattern.length && pattern[in] != ']') {
            in = escaped(in);
            int from = pattern[in] & 0xFF;
            if (in + 2 < pattern.length && pattern[in + 1] == '-') {
                in = escaped(in + 2);
            }
            int to = pattern[in] & 0xFF;
            found |= Math.min(from, to) <= b && b <= Math.max(from, to);
            in++;
        }
        return found == negated ? -1 : Math.min(in + 1, pattern.length);
    }

    /** Returns the position of the byte that a backslash at the given position escapes; otherwise the position. */
    private int escaped(int in) {
        return pattern[in] == '\\' && in + 1 < pattern.length ? in + 1 : in;
    }

    int length() {
        return pattern.length;
    }

    byte[] toBytes() {
        return pattern.clone();
    }

    /** Returns the fixed beginning of the pattern, with which every match starts. */
    byte[] beginning() {
        ByteArrayOutputStream beginning = new ByteArrayOutputStream(pattern.length);
        for (int in = 0; in < pattern.length && "*?[".indexOf(pattern[in]) < 0; in++) {
            in = escaped(in);
            beginning.write(pattern[in]);
        }
        return beginning.toByteArray();
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
