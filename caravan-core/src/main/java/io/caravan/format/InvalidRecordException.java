package io.caravan.format;

import io.caravan.CorruptStoreException;

/**
 * A record that does not fit what is around it, in a frame whose checksum is right: the frame was written wrongly, or
 * by somebody else. The reader of the log, who knows the file, turns it into a {@link CorruptStoreException}.
 */
public final class InvalidRecordException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final long lsn;
    private final long id;
    private final long sequence;

    /** Bytes that are not a record. */
    public InvalidRecordException(long lsn, String problem) {
        this(lsn, CorruptStoreException.NOT_APPLICABLE, CorruptStoreException.NOT_APPLICABLE, problem);
    }

    /** A record that contradicts the list it belongs to. */
    public InvalidRecordException(long lsn, long id, long sequence, String problem) {
        super(problem);
        this.lsn = lsn;
        this.id = id;
        this.sequence = sequence;
    }

    /** The same problem, as damage to the file that the record is in. */
    public CorruptStoreException in(String path, long offset) {
        String problem = "LSN " + lsn + ": " + getMessage();
        return sequence == CorruptStoreException.NOT_APPLICABLE
                ? new CorruptStoreException(path, offset, problem)
                : new CorruptStoreException(path, offset, id, sequence, problem);
    }

    /** Position of the record in the log. */
    public long lsn() {
        return lsn;
    }
}
