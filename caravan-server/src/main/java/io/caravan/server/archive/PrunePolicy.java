package io.caravan.server.archive;

import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Tombstone;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What pruning leaves in an archive. Time that has yet to come, as another server's clock may tell it, is no time ago.
 *
 * @param generations how many of a document's newest generations stay, whatever their age; at least 1, so that the latest
 *     does
 * @param age generations that are not older stay too
 * @param retain how long a deleted document stays; at least a day, so that nobody can still be about to archive what was
 *     there before the deletion
 */
public record PrunePolicy(int generations, Duration age, Duration retain) {
    /** The least time that a deleted document stays. */
    public static final Duration LEAST_RETAIN = Duration.ofDays(1);

    /**
     * Checks it.
     *
     * @throws IllegalArgumentException saying what is out of range
     */
    public PrunePolicy {
        check(generations >= 1, "of each document at least one generation must be kept, not " + generations);
        check(!age.isNegative(), "generations cannot be kept for " + age);
        check(retain.compareTo(LEAST_RETAIN) >= 0, "deleted documents must be kept for a day at least, not " + retain);
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    /** The generations that stay, if the document does. */
    List<Generation> kept(Manifest manifest, long nowMillis) {
        List<Generation> all = manifest.generations();
        List<Generation> kept = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (i >= all.size() - generations || nowMillis - all.get(i).takenAtMillis() <= age.toMillis()) {
                kept.add(all.get(i));
            }
        }
        return kept;
    }

    /** Whether a document was deleted so long ago that nothing of it stays. */
    boolean expired(Manifest manifest, long nowMillis) {
        Tombstone tombstone = manifest.tombstone();
        return tombstone != null && nowMillis - tombstone.deletedAtMillis() > retain.toMillis();
    }
}
