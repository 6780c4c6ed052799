package io.caravan.server.archive;

/**
 * What pruning has removed, or would remove.
 *
 * @param kind why
 * @param document the document's name for people, as far as it is known
 * @param key the object
 * @param bytes its size, 0 for a manifest
 */
public record Removal(Kind kind, String document, String key, long bytes) {

    /** Why something is removed. */
    public enum Kind {
        /** A snapshot that the policy does not keep. */
        GENERATION,
        /** A snapshot that no manifest names, and none can name any more. */
        LEFTOVER,
        /** All that is known of a document that was deleted long ago. */
        DOCUMENT
    }
}
