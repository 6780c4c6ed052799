package io.caravan.server.protocol.resp.dispatch;

import io.caravan.server.protocol.resp.codec.CommandException;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * A pattern as Redis has them: {@code *} is any bytes, {@code ?} is one, {@code [a-c]} one of some, {@code [^a-c]} one
 * of all others, and a backslash takes the meaning from what follows it. A match takes one step for each byte of the text
 * and 64 elements of the pattern, whatever the pattern is. Immutable.
 */
public final class Glob {
    /** Longer than any name, twice over for backslashes. */
    private static final int MAX_BYTES = 4096;

    private final byte[] pattern;
    /** Made for the first match. */
    private volatile @Nullable Automaton automaton;

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
        Automaton compiled = automaton;
        if (compiled == null) {
            compiled = new Automaton();
            automaton = compiled;
        }
        return compiled.matches(text);
    }

    /**
     * The pattern's elements without its stars, as bits: a bit is set while the text so far is as the elements before it
     * say. All bits go on together with each byte of the text.
     */
    private final class Automaton {
        private final int elements;
        /** For each byte, the elements that are as it is; null where those are only the ones that any byte is. */
        private final @Nullable long[][] byByte = new long[256][];
        /** The elements that any byte is. */
        private final long[] any;
        /** The elements that a star stands before. */
        private final long[] starred;

        Automaton() {
            int count = 0;
            for (int in = 0; in < pattern.length; in = next(in)) {
                count += pattern[in] == '*' ? 0 : 1;
            }
            elements = count;
            any = bits();
            starred = bits();
            int element = 0;
            for (int in = 0; in < pattern.length; in = next(in)) {
                if (pattern[in] == '*') {
                    set(starred, element);
                } else {
                    add(in, element++);
                }
            }
        }

        /** One for each element, and one for the end. */
        private long[] bits() {
            return new long[elements / Long.SIZE + 1];
        }

        private static void set(long[] bits, int bit) {
            bits[bit / Long.SIZE] |= 1L << bit;
        }

        private void add(int in, int element) {
            if (pattern[in] == '?') {
                set(any, element);
            } else if (pattern[in] == '[') {
                addSet(in, element);
            } else {
                addByte(pattern[escaped(in)] & 0xFF, element);
            }
        }

        private void addByte(int b, int element) {
            long[] bits = byByte[b];
            if (bits == null) {
                bits = bits();
                byByte[b] = bits;
            }
            set(bits, element);
        }

        private void addSet(int open, int element) {
            BitSet bytes = new BitSet(256);
            int in = firstOfSet(open);
            boolean negated = in == open + 2;
            while (in < pattern.length && pattern[in] != ']') {
                int from = escaped(in);
                in = lastOfRange(from);
                int low = Math.min(pattern[from] & 0xFF, pattern[in] & 0xFF);
                int high = Math.max(pattern[from] & 0xFF, pattern[in] & 0xFF);
                bytes.set(low, high + 1);
                in++;
            }
            if (negated) {
                bytes.flip(0, 256);
            }
            bytes.stream().forEach(b -> addByte(b, element));
        }

        boolean matches(byte[] text) {
            if (text.length < elements) {
                return false;
            }
            long[] reached = bits();
            set(reached, 0);
            for (byte b : text) {
                if (!step(reached, byByte[b & 0xFF])) {
                    return false;
                }
            }
            return (reached[elements / Long.SIZE] >>> elements & 1) != 0;
        }

        /** Takes the next byte; returns false when nothing can match any more. */
        private boolean step(long[] reached, long @Nullable [] ofByte) {
            long carried = 0;
            long left = 0;
            for (int i = 0; i < reached.length; i++) {
                long passed = reached[i] & (ofByte == null ? any[i] : any[i] | ofByte[i]);
                long next = passed << 1 | carried | reached[i] & starred[i];
                carried = passed >>> (Long.SIZE - 1);
                reached[i] = next;
                left |= next;
            }
            return left != 0;
        }
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

    /** Where the byte is that is meant at a position, be it in a set. */
    private int escaped(int in) {
        return pattern[in] == '\\' && in + 1 < pattern.length ? in + 1 : in;
    }

    /** Position of the first byte of a set, behind the sign that negates it. */
    private int firstOfSet(int open) {
        return open + 1 < pattern.length && pattern[open + 1] == '^' ? open + 2 : open + 1;
    }

    /** Position of the last byte of the range that begins at a position in a set; one byte is a range too. */
    private int lastOfRange(int first) {
        return first + 2 < pattern.length && pattern[first + 1] == '-' ? escaped(first + 2) : first;
    }

    /** Position of the element after the one at a position. A set that is not closed ends with the pattern, as in Redis. */
    private int next(int in) {
        if (pattern[in] == '\\') {
            return Math.min(in + 2, pattern.length);
        }
        if (pattern[in] != '[') {
            return in + 1;
        }
        int at = firstOfSet(in);
        while (at < pattern.length && pattern[at] != ']') {
            at = lastOfRange(escaped(at)) + 1;
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
