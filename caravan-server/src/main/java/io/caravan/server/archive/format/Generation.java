package io.caravan.server.archive.format;

/**
 * What a manifest says of one snapshot of its document.
 *
 * @param number from 1 on; each snapshot of a name has a higher one
 * @param key the snapshot's object
 * @param incarnation as in {@link SnapshotHeader}
 * @param epoch as in {@link SnapshotHeader}
 * @param firstSequence as in {@link SnapshotHeader}
 * @param nextSequence as in {@link SnapshotHeader}
 * @param takenAtMillis as in {@link SnapshotHeader}
 * @param valueBytes sum of the values' lengths
 * @param objectBytes size of the object
 * @param sha256 hash of the whole object, in hexadecimal digits
 */
public record Generation(
        long number,
        String key,
        long incarnation,
        long epoch,
        long firstSequence,
        long nextSequence,
        long takenAtMillis,
        long valueBytes,
        long objectBytes,
        String sha256) {

    /** Number of values. */
    public long count() {
        return nextSequence - firstSequence;
    }
}
