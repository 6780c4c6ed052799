package io.caravan.server.archive.format;

import io.caravan.CaravanException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when the content of an archive does not permit an operation. The message names the object and the document.
 * Errors of the object store are {@link io.caravan.server.archive.object.ObjectStoreException}s.
 */
public final class ArchiveException extends CaravanException {
    private static final long serialVersionUID = 1L;

    public enum Reason {
        /** An object's bytes are not those that were written, or their content is invalid. */
        CORRUPT,
        /** An object has a version that this release cannot read. */
        VERSION,
        /** There is no archive, or the archive lacks this document or generation. */
        NOT_FOUND,
        /** The archive belongs to another store. */
        FOREIGN,
        /** Another server has taken over the archive, so this server must no longer write to it. */
        FENCED,
        /** The state to archive or restore is older than the state that it would replace, or does not continue it. */
        DIVERGED,
        /** A manifest has no space for another generation. */
        FULL,
        /** The document was deleted; the archive keeps its generations for a while. */
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

    /** Returns the exception for a damaged object, given by its key or address and, if known, the document. */
    static ArchiveException corrupt(String object, String problem) {
        return new ArchiveException(Reason.CORRUPT, object + ": " + problem);
    }

    /** Returns the exception for an object that has a version that this release cannot read. */
    static ArchiveException version(String object, long version, int oldest, int newest) {
        return new ArchiveException(
                Reason.VERSION,
                object + " has format version " + version + ", and this release reads "
                        + (oldest == newest ? "version " + oldest : "versions " + oldest + " to " + newest)
                        + (version > newest ? "; use the release that wrote it, or a newer one" : ""));
    }
}
