package io.caravan.server.archive.format;

/**
 * Says that a document was deleted.
 *
 * @param incarnation which document it was
 * @param nextSequence the sequence that its next value would have got
 * @param deletedAtMillis when, by the server's clock, in milliseconds since 1970
 */
public record Tombstone(long incarnation, long nextSequence, long deletedAtMillis) {}
