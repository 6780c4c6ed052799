package io.caravan.bench.hostloss;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What a document is after one of its changes. */
final class Moment {
    private final int document;
    private final @Nullable Life life;
    private final long firstSequence;
    private final long nextSequence;
    private boolean answered;
    private long answeredNanos;

    /**
     * A moment that nobody has been told of yet.
     *
     * @param life null when there is no document
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

    /** The server has said that the change is made. */
    void answered(long nanos) {
        answered = true;
        answeredNanos = nanos;
    }

    /** Whether the server has said so. */
    boolean answered() {
        return answered;
    }

    /** Whether the server has said so by then. */
    boolean answeredBy(long nanos) {
        return answered && answeredNanos - nanos <= 0;
    }

    long answeredNanos() {
        return answeredNanos;
    }

    /** Whether the document that was found, or none, is this one: sequences, values and all their bytes. */
    boolean is(@Nullable FoundDocument found) {
        return hasSequencesOf(found) && (found == null || wrongSequence(found) < 0);
    }

    /** Whether the document that was found has the sequences that it had at this moment. */
    boolean hasSequencesOf(@Nullable FoundDocument found) {
        if (life == null || found == null) {
            return life == null && found == null;
        }
        return firstSequence == found.firstSequence() && nextSequence == found.nextSequence();
    }

    /** The first sequence at which there is another value than at this moment; -1 when there is none. */
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
        return life == null ? "not there" : "values from " + firstSequence + " to before " + nextSequence;
    }
}
