package io.caravan.server.archive.format;

import io.caravan.catalog.Attributes;
import io.caravan.catalog.DocumentName;
import java.util.UUID;

/**
 * What a snapshot says of itself before its values.
 *
 * @param store identity of the store that the document lived in
 * @param name the document
 * @param incarnation tells this document from others that had its name before it was created or after it was deleted
 * @param generation number of this snapshot among those of the name, from 1 on
 * @param epoch number of the archive's owner that wrote it
 * @param firstSequence sequence of the first value; equal to {@code nextSequence} when there is none
 * @param nextSequence sequence that the document's next value will get
 * @param takenAtMillis when it was taken, by the server's clock, in milliseconds since 1970
 * @param attributes what the document is beside its values, less what only means something in its store
 */
public record SnapshotHeader(
        UUID store,
        DocumentName name,
        long incarnation,
        long generation,
        long epoch,
        long firstSequence,
        long nextSequence,
        long takenAtMillis,
        Attributes attributes) {

    /** Number of values. */
    public long count() {
        return nextSequence - firstSequence;
    }
}
