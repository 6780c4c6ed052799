package io.caravan.server.archive.format;

import io.caravan.server.archive.format.SealedJson.Hex;

/**
 * A manifest's entry for one snapshot of its document. The field names and their order are those of the manifest's
 * JSON.
 *
 * @param number counted from 1; higher for each later snapshot of the name
 * @param key the snapshot's object
 * @param incarnation as in {@link SnapshotHeader}, like the following fields up to {@code takenAtMillis}
 * @param valueBytes sum of the values' lengths
 * @param objectBytes size of the object
 * @param sha256 hash of the entire object, in hexadecimal digits
 */
public record Generation(
        long number,
        String key,
        @Hex long incarnation,
        long epoch,
        long firstSequence,
        long nextSequence,
        long takenAtMillis,
        long valueBytes,
        long objectBytes,
        String sha256) {

    public long count() {
        return nextSequence - firstSequence;
    }
}
