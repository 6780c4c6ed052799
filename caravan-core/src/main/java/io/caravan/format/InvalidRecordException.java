package io.caravan.format;

import io.caravan.CorruptStoreException;

/**
 * Thrown if a frame whose checksum is correct contains an invalid record: the frame was written incorrectly, or by
 * another program. The reader of the log converts this exception to a {@link CorruptStoreException} that names the
 * file.
 */
public final class InvalidRecordException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final long lsn;
    private final long id;
    private final long sequence;

    /** Creates an exception for bytes that do not form a record. */
    public InvalidRecordException(long lsn, String problem) {
        this(lsn, CorruptStoreException.NOT_APPLICABLE, CorruptStoreException.NOT_APPLICABLE, problem);
    }

    /** Creates an exception for a record that contradicts the state of its list. */
    public InvalidRecordException(long lsn, long id, long sequence, String problem) {
        super(problem);
        this.lsn = lsn;
        this.id = id;
        this.sequence = sequence;
    }

    /** Converts this to an exception that reports damage to the file that contains the record. */
    public CorruptStoreException in(String path, long offset) {
        return new CorruptStoreException(path, offset, id, sequence, "LSN " + lsn + ": " + getMessage());
    }

    public long lsn() {
        return lsn;
    }
}
