package io.caravan;

/** Thrown if the entries to be read have been trimmed. To continue, read from {@link #firstSequence()}. */
public final class TrimmedException extends CaravanException {
    private static final long serialVersionUID = 1L;

    private final long firstSequence;

    public TrimmedException(long id, long requested, long firstSequence) {
        super("document " + id + ": sequence " + requested + " has been trimmed; the first retained sequence is "
                + firstSequence);
        this.firstSequence = firstSequence;
    }

    /** Returns the sequence of the first entry that is still retained. */
    public long firstSequence() {
        return firstSequence;
    }
}
