package io.caravan.server.protocol.resp;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * A pattern with the syntax of Redis: {@code *} matches any bytes, {@code ?} one byte, {@code [a-c]} one byte in a set,
 * {@code [^a-c]} one byte outside the set, and a backslash escapes the next byte. For each byte of the text, a match
 * takes one step for every 64 elements of the pattern. Immutable.
 */
final class Glob {
    /** The pattern that matches everything. */
    static final Glob ALL = new Glob(new byte[] {'*'});
    /** Maximum length of a pattern; enough for any document name with a backslash before each byte. */
    private static final int MAX_BYTES = 4096;

    private final byte[] pattern;
    /** The automaton of the pattern, which is created when the pattern is first matched. */
    private volatile @Nullable Automaton automaton;

    /** Creates a pattern from bytes, which must not change. Throws a {@link CommandException} if there are too many. */
    Glob(byte[] pattern) {
        if (pattern.length > MAX_BYTES) {
            throw new CommandException("ERR a pattern has at most " + MAX_BYTES + " bytes");
        }
        this.pattern = pattern;
    }

    boolean matches(byte[] text) {
        Automaton compiled = automaton;
        if (compiled == null) {
            compiled = new Automaton();
            automaton = compiled;
        }
        return compiled.matches(text);
    }

    /**
     * A nondeterministic finite automaton, whose states are bits: one for each element of the pattern except stars, and
     * one for the end. A bit is set if the text so far matches all elements before the bit. Each byte of the text
     * advances all states at once.
     */
    private final class Automaton {
        private final int elements;
        /**
         * The elements that match a specific byte, indexed by the byte, excluding those in {@link #any}; null if there
         * are none.
         */
        private final @Nullable long[][] byByte = new long[256][];
        /** The elements that match any byte. */
        private final long[] any;
        /** The elements that follow a star. */
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

        /** Advances all states by one byte of the text. Returns false if no match is possible anymore. */
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

    int length() {
        return pattern.length;
    }

    byte[] toBytes() {
        return pattern.clone();
    }

    /** Returns the fixed beginning of the pattern, with which every match starts. */
    byte[] beginning() {
        ByteArrayOutputStream beginning = new ByteArrayOutputStream(pattern.length);
        for (int in = 0; in < pattern.length && "*?[".indexOf(pattern[in]) < 0; in = next(in)) {
            beginning.write(pattern[escaped(in)]);
        }
        return beginning.toByteArray();
    }

    /**
     * Returns the position after a backslash at the given position, or the given position if it contains no backslash.
     */
    private int escaped(int in) {
        return pattern[in] == '\\' && in + 1 < pattern.length ? in + 1 : in;
    }

    /** Returns the position of the first byte of a set, after the negation sign if there is one. */
    private int firstOfSet(int open) {
        return open + 1 < pattern.length && pattern[open + 1] == '^' ? open + 2 : open + 1;
    }

    /** Returns the position of the last byte of a range in a set. A single byte is also a range. */
    private int lastOfRange(int first) {
        return first + 2 < pattern.length && pattern[first + 1] == '-' ? escaped(first + 2) : first;
    }

    /** Returns the position of the next element. An unclosed set ends with the pattern, as in Redis. */
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
