package io.caravan.server.document;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * When a document's values came, as far as retaining them by age needs it: marks, each a time and the sequence up to which
 * all values were there then. A mark is made for a thirty-second of the age, so a value is dropped when it is older than
 * that by no more. Immutable.
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

    private Ages(long[] marks) {
        this.marks = marks;
    }

    static Ages decode(byte[] encoded) {
        long[] marks = new long[encoded.length / (LONGS * Long.BYTES) * LONGS];
        ByteBuffer.wrap(encoded).asLongBuffer().get(marks);
        return new Ages(marks);
    }

    byte[] encode() {
        ByteBuffer encoded = ByteBuffer.allocate(marks.length * Long.BYTES);
        encoded.asLongBuffer().put(marks);
        return encoded.array();
    }

    /** The sequence up to which all values were there at a time, as far as it is known. */
    long thereAt(long millis) {
        long sequence = 0;
        for (int i = 0; i < marks.length && marks[i + TIME] <= millis; i += LONGS) {
            sequence = marks[i + SEQUENCE];
        }
        return sequence;
    }

    /** Whether values have come of which nothing is known yet, and the last mark was made long enough ago. */
    boolean lacks(long nextSequence, long nowMillis, long ageMillis) {
        if (marks.length == 0) {
            return true;
        }
        long lastMillis = marks[marks.length - LONGS + TIME];
        return marks[marks.length - LONGS + SEQUENCE] < nextSequence
                && (nowMillis < lastMillis
                        || nowMillis - lastMillis >= Math.max(ageMillis / MARKS, LEAST_APART_MILLIS));
    }

    /**
     * With a mark that says that all values are there, and without those that are of no more use. A time that is in the
     * future, because the clock was set back, becomes the present one.
     */
    Ages with(long nextSequence, long nowMillis, long ageMillis) {
        int old = 0;
        while (old + LONGS < marks.length && marks[old + LONGS + TIME] <= nowMillis - ageMillis) {
            old += LONGS;
        }
        long[] after = Arrays.copyOfRange(marks, old, marks.length + LONGS);
        for (int i = 0; i < after.length; i += LONGS) {
            after[i + TIME] = Math.min(after[i + TIME], nowMillis);
        }
        after[after.length - LONGS + TIME] = nowMillis;
        after[after.length - LONGS + SEQUENCE] = nextSequence;
        return new Ages(after);
    }
}
