package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.catalog.DocumentName;

/**
 * A change or a read that a document's state does not allow. Nothing has changed. {@code expected} and {@code actual}
 * are for the client to continue; each reason says which of them it has, and the other is 0.
 */
public class DocumentException extends CaravanException {
    private static final long serialVersionUID = 1L;

    /** Why. */
    public enum Reason {
        /** There is no document of this name. */
        NOT_FOUND,
        /** The document was deleted, but others that were forked off it still need its values, so its name is taken. */
        GONE,
        /** The document exists, but not as the creation describes it. */
        EXISTS,
        /** The document is closed: {@code actual} is its next sequence. */
        CLOSED,
        /** The content type is not the document's. */
        CONTENT_TYPE_MISMATCH,
        /** A value is not one JSON text, and the document takes nothing else. */
        NOT_JSON,
        /** The writer's own sequence is not above the last one. */
        STREAM_SEQ_REGRESSION,
        /** The document's next sequence is not the {@code expected} one, but {@code actual}. */
        SEQUENCE_CONFLICT,
        /** The producer's epoch is below {@code actual}, the one it has reached: a newer instance of it is writing. */
        PRODUCER_FENCED,
        /** The producer's sequence is {@code actual}, and should be {@code expected}: an append before it is missing. */
        PRODUCER_GAP,
        /** The producer's epoch is new, and its sequence is {@code actual} instead of 0. */
        PRODUCER_EPOCH_START,
        /** The document to fork off does not exist. */
        SOURCE_NOT_FOUND,
        /** The document to fork off is deleted. */
        SOURCE_GONE,
        /** The document to fork off has no such place, or the chain of forks would be too long. */
        FORK_POINT,
        /** The document's values are needed by {@code actual} others that were forked off it. */
        HAS_FORKS,
        /** The document was trimmed, deleted or replaced while it was being read. */
        CHANGED_MEANWHILE,
        /** The document is being restored from an archive: try again in a moment. */
        RESTORING,
        /** The document is being moved to another server, and is not to change until it is there: try again in a moment. */
        MOVING,
        /** The document was moved to another server: see {@link MovedException}. */
        MOVED,
        /** A value, or the document with it, would be larger than its space allows. */
        TOO_LARGE,
        /** The document's space would have more documents or bytes than its quota. */
        OVER_QUOTA,
        /** The document's space is written to faster than it allows: try again in {@code expected} milliseconds. */
        RATE_LIMITED,
        /** The document is in another group of the store than one that the same change is about. */
        CROSS_GROUP
    }

    private final Reason reason;
    private final long expected;
    private final long actual;

    public DocumentException(Reason reason, DocumentName name, String problem) {
        this(reason, name, problem, 0, 0);
    }

    public DocumentException(Reason reason, DocumentName name, String problem, long expected, long actual) {
        super("document '" + name + "' " + problem);
        this.reason = reason;
        this.expected = expected;
        this.actual = actual;
    }

    public Reason reason() {
        return reason;
    }

    public long expected() {
        return expected;
    }

    public long actual() {
        return actual;
    }

    /** A refusal is an answer, whose stack trace is never read. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
