package io.caravan.server.document;

import io.caravan.CaravanException;
import io.caravan.catalog.DocumentName;

/**
 * Thrown if the state of a document does not allow a write or a read. Nothing has changed. {@code expected} and {@code
 * actual} help the client to continue; each reason documents the fields that it sets; all others are 0.
 */
public class DocumentException extends CaravanException {
    private static final long serialVersionUID = 1L;

    /** The reason for the rejection. */
    public enum Reason {
        /** No document with this name exists. */
        NOT_FOUND,
        /** The document was deleted, but its forks still need its values, so its name is taken. */
        GONE,
        /** The document exists, but does not match the creation request. */
        EXISTS,
        /** The document is closed; {@code actual} is its next sequence. */
        CLOSED,
        /** The content type of the request does not match the document's content type. */
        CONTENT_TYPE_MISMATCH,
        /** A value is not a single JSON text, and the document accepts only JSON. */
        NOT_JSON,
        /** The writer's own sequence is not greater than the last one stored with the document. */
        STREAM_SEQ_REGRESSION,
        /** The document's next sequence is {@code actual}, not {@code expected}. */
        SEQUENCE_CONFLICT,
        /** The producer's epoch is below its latest known epoch, {@code actual}: a newer instance is writing. */
        PRODUCER_FENCED,
        /** The producer's sequence is {@code actual}, not {@code expected}, because an earlier append is missing. */
        PRODUCER_GAP,
        /** The producer's epoch is new, and its sequence is {@code actual} instead of 0. */
        PRODUCER_EPOCH_START,
        /** The document to fork does not exist. */
        SOURCE_NOT_FOUND,
        /** The document to fork is deleted. */
        SOURCE_GONE,
        /** The fork point does not exist in the document to fork, or the chain of forks would be too long. */
        FORK_POINT,
        /** {@code actual} forks of the document need its values. */
        HAS_FORKS,
        /** The document was trimmed, deleted, or replaced during the operation. */
        CHANGED,
        /** The document is being restored from an archive or imported: retry later. */
        RESTORING,
        /** The document is being moved to another server, and rejects writes until the move has ended: retry later. */
        MOVING,
        /** The document was moved to another server: see {@link MovedException}. */
        MOVED,
        /** A value, or the document including the value, would exceed a size limit of the document's space. */
        TOO_LARGE,
        /** The write would exceed the document quota or the byte quota of the document's space. */
        OVER_QUOTA,
        /** Writes to the document's space exceed the space's rate limit: retry in {@code expected} milliseconds. */
        RATE_LIMITED,
        /** The document is in another shard than the write's other documents, or in another Raft group. */
        CROSS_SLOT
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

    /** Omits the stack trace: a rejection is an ordinary result, and its stack trace would not be used. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
