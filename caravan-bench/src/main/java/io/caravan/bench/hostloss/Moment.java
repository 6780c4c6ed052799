package io.caravan.bench.hostloss;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The state of a document after one of its changes. */
final class Moment {
    private final int document;
    private final @Nullable Life life;
    private final long firstSequence;
    private final long nextSequence;
    private boolean answered;
    private long answeredNanos;

    /**
     * Creates a moment that is not acknowledged yet.
     *
     * @param life null when the document does not exist
     */
    Moment(int document, @Nullable Life life, long firstSequence, long nextSequence) {
        this.document = document;
        this.life = life;
        this.firstSequence = firstSequence;
        this.nextSequence = nextSequence;
    }

    @Nullable
    Life life() {
        return life;
    }

    long firstSequence() {
        return firstSequence;
    }

    long nextSequence() {
        return nextSequence;
    }

    /** Records that the server has acknowledged the change. */
    void answered(long nanos) {
        answered = true;
        answeredNanos = nanos;
    }

    /** Whether the server has acknowledged the change. */
    boolean answered() {
        return answered;
    }

    /** Whether the server had acknowledged the change by then. */
    boolean answeredBy(long nanos) {
        return answered && answeredNanos - nanos <= 0;
    }

    long answeredNanos() {
        return answeredNanos;
    }

    /** Whether the found document, or its absence, matches this moment: sequences, values and all their bytes. */
    boolean is(@Nullable FoundDocument found) {
        return hasSequencesOf(found) && (found == null || wrongSequence(found) < 0);
    }

    /** Whether the found document has the sequences of this moment. */
    boolean hasSequencesOf(@Nullable FoundDocument found) {
        if (life == null || found == null) {
            return life == null && found == null;
        }
        return firstSequence == found.firstSequence() && nextSequence == found.nextSequence();
    }

    /** The first sequence whose value differs from this moment's; -1 when there is none. */
    long wrongSequence(FoundDocument found) {
        if (life == null || found.values().size() != nextSequence - firstSequence) {
            return firstSequence;
        }
        for (long sequence = firstSequence; sequence < nextSequence; sequence++) {
            byte[] should = DocumentValues.value(document, life.stamp(sequence));
            if (!Arrays.equals(should, found.values().get((int) (sequence - firstSequence)))) {
                return sequence;
            }
        }
        return -1;
    }

    @Override
    public String toString() {
        return life == null ? "missing" : "values from " + firstSequence + " to " + nextSequence + ", exclusive";
    }
}
