package io.caravan.server.archive.format;

import io.caravan.server.archive.format.ArchiveException.Reason;

/** What is wrong with an object's bytes, told the same way for all kinds of objects. */
final class ArchiveErrors {

    private ArchiveErrors() {}

    /**
     * Says that an object is damaged.
     *
     * @param object its key or address, and, when it is known, the document
     */
    static ArchiveException corrupt(String object, String problem) {
        return new ArchiveException(Reason.CORRUPT, object + ": " + problem);
    }

    /**
     * Says that an object is of another version.
     *
     * @param object its key or address
     * @param oldest what this release reads, and {@code newest}
     */
    static ArchiveException version(String object, long version, int oldest, int newest) {
        return new ArchiveException(
                Reason.VERSION,
                object + " has format version " + version + ", and this release reads "
                        + (oldest == newest ? "version " + oldest : "versions " + oldest + " to " + newest)
                        + (version > newest ? "; use the release that wrote it, or a newer one" : ""));
    }
}
