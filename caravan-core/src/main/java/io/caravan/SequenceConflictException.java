package io.caravan;

/** Thrown if a list's next sequence differs from the sequence that a batch expected. Nothing was changed. */
public final class SequenceConflictException extends CaravanException {
    private static final long serialVersionUID = 1L;

    private final long id;
    private final long expected;
    private final long actual;

    public SequenceConflictException(long id, long expected, long actual) {
        super("document " + id + ": expected next sequence " + expected + ", but it is " + actual);
        this.id = id;
        this.expected = expected;
        this.actual = actual;
    }

    public long id() {
        return id;
    }

    /** Returns the next sequence that the batch expected. */
    public long expected() {
        return expected;
    }

    /** Returns the actual next sequence of the list. */
    public long actual() {
        return actual;
    }
}
