package io.caravan.server.protocol.resp;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pattern with the syntax of Redis: {@code *} matches any bytes, {@code ?} one byte, {@code [a-c]} one byte in a set,
 * {@code [^a-c]} one byte outside the set, and a backslash escapes the next byte. For each byte of the text, a match
 * takes one step for every 64 elements of the pattern. Immutable.
 */
final class Glob {
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

        /** The position in the pattern while it is parsed. */
        private int at;

        Automaton() {
            List<BitSet> found = new ArrayList<>();
            BitSet stars = new BitSet();
            for (at = 0; at < pattern.length; at++) {
                if (pattern[at] == '*') {
                    stars.set(found.size());
                } else {
                    found.add(element());
                }
            }
            elements = found.size();
            any = bits();
            starred = bits();
            stars.stream().forEach(element -> set(starred, element));
            for (int i = 0; i < elements; i++) {
                add(i, found.get(i));
            }
        }

        private long[] bits() {
            return new long[elements / Long.SIZE + 1];
        }

        private static void set(long[] bits, int bit) {
            bits[bit / Long.SIZE] |= 1L << bit;
        }

        /**
         * Returns the bytes that the element at the current position matches, and moves to the last byte of the
         * element. An unclosed set ends with the pattern, as in Redis.
         */
        private BitSet element() {
            BitSet bytes = new BitSet(256);
            if (pattern[at] == '?') {
                bytes.set(0, 256);
            } else if (pattern[at] != '[') {
                bytes.set(literal());
            } else {
                boolean negated = at + 1 < pattern.length && pattern[at + 1] == '^';
                at += negated ? 1 : 0;
                while (++at < pattern.length && pattern[at] != ']') {
                    int from = literal();
                    boolean range = at + 2 < pattern.length && pattern[at + 1] == '-';
                    at += range ? 2 : 0;
                    int to = range ? literal() : from;
                    bytes.set(Math.min(from, to), Math.max(from, to) + 1);
                }
                if (negated) {
                    bytes.flip(0, 256);
                }
            }
            return bytes;
        }

        /** Returns the byte at the current position or, after a backslash, the next one. */
        private int literal() {
            at += pattern[at] == '\\' && at + 1 < pattern.length ? 1 : 0;
            return pattern[at] & 0xFF;
        }

        private void add(int element, BitSet bytes) {
            if (bytes.cardinality() == 256) {
                set(any, element);
                return;
            }
            bytes.stream().forEach(b -> {
                long[] bits = byByte[b];
                if (bits == null) {
                    bits = bits();
                    byByte[b] = bits;
                }
                set(bits, element);
            });
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
        for (int in = 0; in < pattern.length && "*?[".indexOf(pattern[in]) < 0; in++) {
            in += pattern[in] == '\\' && in + 1 < pattern.length ? 1 : 0;
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
