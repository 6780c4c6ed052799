package io.caravan.torture.replay;

import io.caravan.torture.replay.Trace.Patch;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Text in a gap buffer of code points, so that typing takes time proportional to the length of the typed text. */
final class TextBuffer {
    private static final int MIN_GAP = 1024;

    private int[] codePoints;
    private int gapStart;
    private int gapEnd;

    private TextBuffer(int[] codePoints) {
        this.codePoints = codePoints;
        gapStart = codePoints.length;
        gapEnd = codePoints.length;
    }

    static TextBuffer of(String text) {
        return new TextBuffer(text.codePoints().toArray());
    }

    /** Creates a buffer that takes ownership of the array. */
    static TextBuffer of(int[] codePoints) {
        return new TextBuffer(codePoints);
    }

    int length() {
        return codePoints.length - (gapEnd - gapStart);
    }

    /**
     * Applies a patch to the text.
     *
     * @throws IndexOutOfBoundsException if the patch is not within the text
     */
    void apply(Patch patch) {
        Objects.checkFromIndexSize(patch.position(), patch.deleted(), length());
        moveGapTo(patch.position());
        gapEnd += patch.deleted();
        int[] inserted = patch.inserted();
        ensureGap(inserted.length);
        System.arraycopy(inserted, 0, codePoints, gapStart, inserted.length);
        gapStart += inserted.length;
    }

    private void moveGapTo(int position) {
        if (position < gapStart) {
            int moved = gapStart - position;
            System.arraycopy(codePoints, position, codePoints, gapEnd - moved, moved);
            gapEnd -= moved;
        } else {
            int moved = position - gapStart;
            System.arraycopy(codePoints, gapEnd, codePoints, gapStart, moved);
            gapEnd += moved;
        }
        gapStart = position;
    }

    private void ensureGap(int needed) {
        if (gapEnd - gapStart >= needed) {
            return;
        }
        int tail = codePoints.length - gapEnd;
        int[] larger = Arrays.copyOf(codePoints, codePoints.length + Math.max(needed, codePoints.length + MIN_GAP));
        System.arraycopy(codePoints, gapEnd, larger, larger.length - tail, tail);
        codePoints = larger;
        gapEnd = larger.length - tail;
    }

    int[] toCodePoints() {
        int[] text = new int[length()];
        System.arraycopy(codePoints, 0, text, 0, gapStart);
        System.arraycopy(codePoints, gapEnd, text, gapStart, codePoints.length - gapEnd);
        return text;
    }

    /** Whether the other object is a buffer with the same text. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TextBuffer text && Arrays.equals(toCodePoints(), text.toCodePoints());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(toCodePoints());
    }

    @Override
    public String toString() {
        return new String(toCodePoints(), 0, length());
    }
}
