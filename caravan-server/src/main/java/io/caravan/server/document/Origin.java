package io.caravan.server.document;

/**
 * The document of another store of which a document is a copy.
 *
 * @param identity the {@link DocumentService#identity} of the other document
 * @param brought the values before this sequence were copied from there, including those that have since been trimmed
 */
public record Origin(String identity, long brought) {
    /** Maximum length of an identity, in characters. */
    static final int MAX_CHARS = 64;
}
