package io.caravan;

/** A list's next sequence is not the one that a batch expected. Nothing was changed. */
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

    /** The next sequence that the batch named. */
    public long expected() {
        return expected;
    }

    /** The next sequence that the list has. */
    public long actual() {
        return actual;
    }
}
