package io.caravan;

/** Bytes on disk are not those that were written. Nothing was changed. */
public final class CorruptStoreException extends CaravanException {
    private static final long serialVersionUID = 1L;

    /** In place of an id or sequence where there is none. */
    public static final long NOT_APPLICABLE = -1;

    private final String file;
    private final long offset;
    private final long id;
    private final long sequence;

    /** Damage that belongs to no single entry. */
    public CorruptStoreException(String file, long offset, String problem) {
        this(NOT_APPLICABLE, NOT_APPLICABLE, file, offset, file + " at offset " + offset + ": " + problem);
    }

    /** Damage of one entry. */
    public CorruptStoreException(String file, long offset, long id, long sequence, String problem) {
        this(
                id,
                sequence,
                file,
                offset,
                file + " at offset " + offset + ": document " + id + ", sequence " + sequence + ": " + problem);
    }

    private CorruptStoreException(long id, long sequence, String file, long offset, String message) {
        super(message);
        this.file = file;
        this.offset = offset;
        this.id = id;
        this.sequence = sequence;
    }

    public String file() {
        return file;
    }

    /** Byte offset in the file. */
    public long offset() {
        return offset;
    }

    /** Document id, when {@link #sequence()} applies. */
    public long id() {
        return id;
    }

    /** Sequence of the entry, or {@link #NOT_APPLICABLE}. */
    public long sequence() {
        return sequence;
    }
}
