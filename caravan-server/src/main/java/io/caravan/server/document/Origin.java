package io.caravan.server.document;

/**
 * The document in another store from which a document was copied.
 *
 * @param identity the {@link DocumentService#identity} of the other document
 * @param copiedTo the sequence before which all values were copied from the other document, including values that have
 *     since been trimmed
 */
public record Origin(String identity, long copiedTo) {
    static final int MAX_CHARS = 64;
}
