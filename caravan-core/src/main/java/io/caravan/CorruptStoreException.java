package io.caravan;

/** Thrown if bytes on disk differ from the bytes that the store wrote. The store was not changed. */
public final class CorruptStoreException extends CaravanException {
    private static final long serialVersionUID = 1L;

    /** The value of {@link #id()} and {@link #sequence()} if the damage cannot be attributed to a single entry. */
    public static final long NOT_APPLICABLE = -1;

    private final String file;
    private final long offset;
    private final long id;
    private final long sequence;

    /** Creates an exception for damage that cannot be attributed to a single entry. */
    public CorruptStoreException(String file, long offset, String problem) {
        this(file, offset, NOT_APPLICABLE, NOT_APPLICABLE, problem);
    }

    /** Creates an exception for a damaged entry. */
    public CorruptStoreException(String file, long offset, long id, long sequence, String problem) {
        super(file + " at offset " + offset + ": "
                + (sequence == NOT_APPLICABLE ? "" : "document " + id + ", sequence " + sequence + ": ") + problem);
        this.file = file;
        this.offset = offset;
        this.id = id;
        this.sequence = sequence;
    }

    public String file() {
        return file;
    }

    /** Returns the byte offset of the damage in the file. */
    public long offset() {
        return offset;
    }

    /** Returns the list id, or {@link #NOT_APPLICABLE} if the damage cannot be attributed to a single entry. */
    public long id() {
        return id;
    }

    /** Returns the sequence of the damaged entry, or {@link #NOT_APPLICABLE}. */
    public long sequence() {
        return sequence;
    }
}
