package io.caravan.server.document;

import java.util.Arrays;

/**
 * The arrival times of a document's values, at the precision that retention by age needs. Each mark contains a time and
 * a sequence: all values before this sequence had arrived by that time. A new mark is added once 1/32 of the retention
 * age (at least 1 s) has passed since the last mark; values are trimmed with the precision of this interval. Immutable.
 *
 * <p>Encoded as the marks, oldest first, each as milliseconds since 1970 and a sequence, 8 bytes each, big-endian.
 */
final class Ages {
    static final Ages NONE = new Ages(new long[0]);

    private static final int MARKS = 32;
    private static final long LEAST_APART_MILLIS = 1000;
    private static final int TIME = 0;
    private static final int SEQUENCE = 1;
    private static final int LONGS = 2;

    private final long[] marks;

    Ages(long[] marks) {
        this.marks = marks;
    }

    byte[] encode() {
        return Attribute.encode("", marks);
    }

    /** Returns the sequence before which all values had arrived by this time; 0 if no mark is that old. */
    long thereAt(long millis) {
        long sequence = 0;
        for (int i = 0; i < marks.length && marks[i + TIME] <= millis; i += LONGS) {
            sequence = marks[i + SEQUENCE];
        }
        return sequence;
    }

    /** Whether a new mark is due: either none exists, or the last one is old enough and values have arrived since. */
    boolean lacks(long nextSequence, long nowMillis, long ageMillis) {
        if (marks.length == 0) {
            return true;
        }
        long lastMillis = marks[marks.length - LONGS + TIME];
        return marks[marks.length - LONGS + SEQUENCE] < nextSequence
                && nowMillis - lastMillis >= Math.max(ageMillis / MARKS, LEAST_APART_MILLIS);
    }

    /**
     * Returns a copy with a new mark for all current values, and without the marks that are no longer needed. The new
     * mark must be due. Keeps marks whose time is in the future, because the clock may have been set back only briefly.
     *
     * @param trimmedMillis the values that had arrived by this time are trimmed
     */
    Ages with(long nextSequence, long nowMillis, long trimmedMillis) {
        int old = 0;
        while (old + LONGS < marks.length && marks[old + LONGS + TIME] <= trimmedMillis) {
            old += LONGS;
        }
        long[] after = Arrays.copyOfRange(marks, old, marks.length + LONGS);
        after[after.length - LONGS + TIME] = nowMillis;
        after[after.length - LONGS + SEQUENCE] = nextSequence;
        return new Ages(after);
    }
}
