package io.caravan.server.archive.format;

import io.caravan.CaravanException;
import org.jspecify.annotations.Nullable;

/**
 * An archive is not what it has to be for what was asked. The message names the object and the document. What the place
 * itself answers is an {@link io.caravan.server.archive.object.ObjectStoreException}.
 */
public final class ArchiveException extends CaravanException {
    private static final long serialVersionUID = 1L;

    /** Why. */
    public enum Reason {
        /** An object's bytes are not those that were written, or say what cannot be. */
        CORRUPT,
        /** An object is of a version that this release does not read. */
        VERSION,
        /** There is no archive, or not of this document, or not this generation of it. */
        NOT_FOUND,
        /** The archive belongs to another store. */
        FOREIGN,
        /** Another server has taken over the archive: this one must not write to it any more. */
        FENCED,
        /** What is in the archive is older than what is here, or not its continuation. */
        BACK_IN_TIME,
        /** A manifest has no room for another generation. */
        FULL,
        /** The document was deleted; the archive keeps what it was for a while. */
        DELETED
    }

    private final Reason reason;

    public ArchiveException(Reason reason, String message) {
        this(reason, message, null);
    }

    public ArchiveException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }

    /** An object, named by its key or address and, when it is known, the document, is damaged. */
    static ArchiveException corrupt(String object, String problem) {
        return new ArchiveException(Reason.CORRUPT, object + ": " + problem);
    }

    /** An object is of another version than this release reads. */
    static ArchiveException version(String object, long version, int oldest, int newest) {
        return new ArchiveException(
                Reason.VERSION,
                object + " has format version " + version + ", and this release reads "
                        + (oldest == newest ? "version " + oldest : "versions " + oldest + " to " + newest)
                        + (version > newest ? "; use the release that wrote it, or a newer one" : ""));
    }
}
