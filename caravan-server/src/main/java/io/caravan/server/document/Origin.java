package io.caravan.server.document;

/**
 * The document of another store of which a document is a copy.
 *
 * @param identity the {@link DocumentService#identity} of the other document
 * @param copiedTo the values before this sequence were copied from there, including those that have since been trimmed
 */
public record Origin(String identity, long copiedTo) {
    /** Maximum length of an identity, in characters. */
    static final int MAX_CHARS = 64;
}
